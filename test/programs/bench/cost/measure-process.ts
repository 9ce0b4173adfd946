import { startSimulation, type Used } from "./simulate.ts";

/**
 * One simulation in a process of its own, for functions open their connections once in a process: started with
 * `measure-process.ts <mappings> <minutes> <rows a minute>`, it sends a `Measured` and ends.
 */
export interface Measured {
  readonly idle: Used;
  /** What happens once a day. */
  readonly day: Used;
  readonly busy: Used;
}

if (process.send) {
  const [mappings = 0, minutes = 0, rows = 0] = process.argv.slice(2).map(Number);
  const progress = (line: string) => process.stderr.write(`${mappings} mappings: ${line}\n`);
  progress("starting");
  const simulation = await startSimulation(mappings);
  progress(`${minutes} idle minutes`);
  const idle = await simulation.pass(minutes);
  progress("what happens once a day");
  const day = await simulation.onceADay();
  progress(`${minutes} busy minutes`);
  const busy = await simulation.pass(minutes, () => simulation.change(rows));
  await simulation.close();
  process.send({ idle, day, busy } satisfies Measured);
  process.disconnect?.();
}
