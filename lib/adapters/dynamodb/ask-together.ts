/** A question that is under way. */
interface Asking {
  readonly answer: Promise<unknown>;
  /** The answer of the next asking, for those who came meanwhile. */
  next: Promise<unknown> | null;
}

/**
 * Asks the same question once for all who meet with it in one process. Whoever comes while it is under way waits for the
 * next asking, so that nobody is told what was read before he asked. They share the answer: nobody may change it.
 */
export function askTogether() {
  const underWay = new Map<string, Asking>();

  const begin = (question: string, ask: () => Promise<unknown>): Promise<unknown> => {
    const asking: Asking = { answer: ask(), next: null };
    const end = () => {
      if (underWay.get(question) === asking) underWay.delete(question);
    };
    underWay.set(question, asking);
    asking.answer.then(end, end);
    return asking.answer;
  };

  return <Answer>(question: string, ask: () => Promise<Answer>): Promise<Answer> => {
    const asking = underWay.get(question);
    if (asking === undefined) return begin(question, ask) as Promise<Answer>;
    const again = () => begin(question, ask);
    asking.next ??= asking.answer.then(again, again); // whoever asked before was told of its trouble
    return asking.next as Promise<Answer>;
  };
}
