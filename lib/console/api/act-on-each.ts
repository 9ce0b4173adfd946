/** How many things an act has done, and the refusal that ended it. */
export interface DoneOnEach {
  readonly done: number;
  readonly refusal: Error | null;
}

/** Acts on one thing after the other until one is refused; `onDone` is called after each that was not. */
export async function actOnEach(
  ids: readonly string[],
  act: (id: string) => Promise<unknown>,
  onDone: (id: string) => void,
): Promise<DoneOnEach> {
  for (const [done, id] of ids.entries()) {
    try {
      await act(id);
    } catch (error) {
      return { done, refusal: error as Error };
    }
    onDone(id);
  }
  return { done: ids.length, refusal: null };
}
