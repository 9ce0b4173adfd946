/** Does one thing at a time; what is urgent goes before everything else that has not begun. */
export type Turns = <T>(work: () => Promise<T>, isUrgent?: boolean) => Promise<T>;

/** Turns for one connection, each in the order in which they were asked for. */
export function createTurns(): Turns {
  const [urgent, others]: [(() => void)[], (() => void)[]] = [[], []];
  let isBusy = false;

  const goOn = () => {
    const begin = urgent.shift();
    if (begin) begin();
    else if (others.length > 0) setImmediate(goOnWithOthers);
    else isBusy = false;
  };
  // Whoever was answered just now may have something urgent to do with it.
  const goOnWithOthers = () => (urgent.shift() ?? others.shift())?.();

  return (work, isUrgent = false) =>
    new Promise((resolve, reject) => {
      const begin = () => {
        const done = (async () => await work())();
        done.then(resolve, reject).finally(goOn);
      };
      if (isBusy) (isUrgent ? urgent : others).push(begin);
      else {
        isBusy = true;
        begin();
      }
    });
}
