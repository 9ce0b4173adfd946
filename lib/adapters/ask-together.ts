/** A question that is under way. */
interface Asking {
  readonly began: number;
  /** Null once it has come. */
  answer: Promise<unknown> | null;
  /** The answer of the next asking, for those who came meanwhile. */
  next: Promise<unknown> | null;
}

/** Asks, or waits for who asks already. */
export type AskTogether = <Answer>(question: string, ask: () => Promise<Answer>) => Promise<Answer>;

/** After an asking that took longer to fail the next one would probably take as long again. */
const PATIENCE_MILLISECONDS = 1_000;

/**
 * Asks the same question once for all who meet with it in one process. Whoever comes while it is under way waits for the
 * next asking, so that nobody is told what was read before he asked. They share the answer: nobody may change it. What fails
 * at once is asked again for those who came meanwhile, what took long to fail has failed for them, too.
 */
export function askTogether(clock = () => performance.now()): AskTogether {
  const underWay = new Map<string, Asking>();

  const begin = (question: string, ask: () => Promise<unknown>): Promise<unknown> => {
    const began = clock();
    const answer = ask();
    const asking: Asking = { answer, began, next: null };
    // Answers that ended entries still held would outlive the quick collections of memory, probably by the tables that a
    // map leaves behind when it is made anew.
    const end = () => {
      if (underWay.get(question) === asking) underWay.delete(question);
      asking.answer = null;
      asking.next = null;
    };
    underWay.set(question, asking);
    answer.then(end, end);
    return answer;
  };

  return <Answer>(question: string, ask: () => Promise<Answer>): Promise<Answer> => {
    const asking = underWay.get(question);
    if (!asking?.answer) return begin(question, ask) as Promise<Answer>;
    const again = () => begin(question, ask);
    asking.next ??= asking.answer.then(again, (error) => {
      if (clock() - asking.began > PATIENCE_MILLISECONDS) throw error;
      return again();
    });
    return asking.next as Promise<Answer>;
  };
}
