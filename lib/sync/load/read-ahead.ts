/** The same parts, each asked for while the one before it is worked on. */
export async function* readAhead<Part>(parts: AsyncIterable<Part>): AsyncGenerator<Part> {
  const source = parts[Symbol.asyncIterator]();
  const read = () => {
    const part = source.next();
    // Whoever awaits it meets its failure; nobody does when the work ends before.
    part.catch(() => undefined);
    return part;
  };
  try {
    for (let next = read(); ; ) {
      const { done, value } = await next;
      if (done) return;
      next = read();
      yield value;
    }
  } finally {
    // Not awaited: it takes its turn behind the part that was asked for last.
    source.return?.().catch(() => undefined);
  }
}
