/** Repeats work that failed with an error worth another attempt, at most `attempts` times in all. */
export async function retry<T>(
  attempts: number,
  isWorthIt: (error: unknown) => boolean,
  work: () => Promise<T>,
  pause?: (attempt: number) => Promise<void>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt >= attempts || !isWorthIt(error)) throw error;
    }
    await pause?.(attempt);
  }
}
