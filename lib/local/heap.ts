/** A binary heap: `pop` gives the smallest value by `compare`, in logarithmic time. */
export class Heap<T> {
  readonly #values: T[] = [];
  readonly #compare: (a: T, b: T) => number;

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#values.length;
  }

  peek(): T | undefined {
    return this.#values[0];
  }

  push(value: T): void {
    this.#values.push(value);
    this.#rise(this.#values.length - 1);
  }

  pop(): T | undefined {
    const smallest = this.#values[0];
    const last = this.#values.pop();
    if (last !== undefined && this.#values.length > 0) {
      this.#values[0] = last;
      this.#sink(0);
    }
    return smallest;
  }

  /** A heap of those values alone that pass. */
  filtered(passes: (value: T) => boolean): Heap<T> {
    const heap = new Heap<T>(this.#compare);
    for (const value of this.#values) if (passes(value)) heap.push(value);
    return heap;
  }

  #rise(start: number): void {
    for (let index = start; index > 0; ) {
      const parent = (index - 1) >> 1;
      if (!this.#swapIfSmaller(index, parent)) return;
      index = parent;
    }
  }

  #sink(start: number): void {
    for (let index = start; ; ) {
      const left = 2 * index + 1;
      const smaller = this.#isSmaller(left + 1, left) ? left + 1 : left;
      if (!this.#swapIfSmaller(smaller, index)) return;
      index = smaller;
    }
  }

  #isSmaller(a: number, b: number): boolean {
    const [left, right] = [this.#values[a], this.#values[b]];
    return left !== undefined && right !== undefined && this.#compare(left, right) < 0;
  }

  #swapIfSmaller(a: number, b: number): boolean {
    const [left, right] = [this.#values[a], this.#values[b]];
    if (left === undefined || right === undefined || this.#compare(left, right) >= 0) return false;
    this.#values[a] = right;
    this.#values[b] = left;
    return true;
  }
}
