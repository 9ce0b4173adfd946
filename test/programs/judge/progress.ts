import { appendFileSync, existsSync, readFileSync } from "node:fs";

/** What is known of a bug. */
export interface Verdict {
  readonly id: string;
  /** The tests near it, or all of them. */
  readonly stage: "near" | "all";
  readonly result: "caught" | "survived" | "unknown";
  /** The test file that failed, or why nothing is known. */
  readonly by: string | null;
  readonly seconds: number;
}

/** Whether a test file passes without a bug: what fails anyway has noticed nothing. */
interface Baseline {
  readonly file: string;
  readonly isGreen: boolean;
}

/** What a judge knows so far, kept line by line, so that a run that was broken off continues. */
export class Progress {
  readonly #path: string;
  readonly #verdicts = new Map<string, Verdict>();
  readonly #baselines = new Map<string, boolean>();

  constructor(path: string) {
    this.#path = path;
    const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n") : [];
    for (const line of lines.filter((one) => one !== "")) this.#know(JSON.parse(line) as Verdict | Baseline);
  }

  /** The last verdict of a bug. */
  verdictOf(id: string): Verdict | undefined {
    return this.#verdicts.get(id);
  }

  isGreen(file: string): boolean | undefined {
    return this.#baselines.get(file);
  }

  keep(known: Verdict | Baseline): void {
    this.#know(known);
    appendFileSync(this.#path, `${JSON.stringify(known)}\n`);
  }

  #know(known: Verdict | Baseline): void {
    if ("file" in known) this.#baselines.set(known.file, known.isGreen);
    else this.#verdicts.set(known.id, known);
  }
}
