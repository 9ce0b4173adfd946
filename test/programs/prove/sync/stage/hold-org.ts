import { startOrg } from "../../../../../lib/local/org/start-org.ts";
import { movedClock } from "./moved-clock.ts";

/** What the process is to hold, as its only argument. */
export interface OrgOrder {
  readonly dataDir: string;
  readonly port: number;
  readonly clockFile: string;
  readonly definition: object;
}

/** Holds an org with its controls until it is killed. */
const order = JSON.parse(String(process.argv[2])) as OrgOrder;
const clock = movedClock(order.clockFile);
const { close, ...org } = await startOrg({
  dataDir: order.dataDir,
  port: order.port,
  clock: { now: () => new Date(clock.now()), sleep: clock.sleep },
  controls: true,
  dailyApiRequests: 100_000_000,
  definition: order.definition as never,
});
process.on("disconnect", close);
console.log(JSON.stringify(org));
