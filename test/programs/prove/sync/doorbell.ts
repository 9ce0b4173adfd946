import { setTimeout as pause } from "node:timers/promises";
import type { Dice } from "../../../support/doubles/dice.ts";
import type { Counts } from "./counts.ts";
import type { Proved } from "./mapped-objects.ts";
import type { Queries } from "./queries.ts";
import { RING_FAULTS, type RingFault, withWrongToken } from "./stage/door.ts";
import type { Stage } from "./stage/stage.ts";
import type { Trouble } from "./trouble.ts";

/** Both sides' doorbells: the org's rings, which go wrong on their way, those that lie, and the application's nudges. */
export type Doorbell = ReturnType<typeof createDoorbell>;

interface Settings {
  readonly stage: Pick<Stage, "api" | "door">;
  readonly queries: Pick<Queries, "control">;
  readonly mappings: readonly Proved[];
  readonly trouble: Pick<Trouble, "passed">;
}

/** The first of its kind waits so long for something to ring for; the org may be stopped. */
const LONGEST_MILLISECONDS = 20_000;

/** An application has so many requests open at most: without a limit they only grow while the machine is behind. */
const MOST_OPEN_NUDGES = 16;

export function createDoorbell({ stage, queries, mappings, trouble }: Settings) {
  const { door } = stage;
  const rung = mappings.filter(({ rings }) => rings);
  const done = { lies: 0, "lies with a wrong token": 0, nudges: 0 };
  let open = 0;
  let path = "";
  const woken = (worker: string) =>
    [...trouble.passed].reduce((sum, [point, times]) => sum + (point.startsWith(`${worker} | sqs:`) ? times : 0), 0);
  const untilMet = async (fault: RingFault) => {
    const latest = Date.now() + LONGEST_MILLISECONDS;
    while (door.rings[fault] === 0 && Date.now() < latest) await pause(100);
  };

  return {
    /** From now on the org rings for changes of the mappings that are switched on. */
    hang: async () => {
      const { url } = (await stage.api("POST", "/doorbell")) as { url: string };
      path = new URL(url).pathname;
      const messages = rung.map(({ object }) => ({ object, url: `${url}?object=${object}` }));
      await queries.control("PUT", "/outbound", { messages });
    },
    /** Nothing of the org rings for a while. */
    die: async (dice: Dice) => {
      const death = dice.isUnder(0.5) ? "lost" : "refused";
      door.force(death);
      await pause(1_000 + dice.below(4_000));
      await untilMet(death);
      door.force(null);
    },
    /** Rings although nothing has changed, here or there, or with a wrong token. */
    lie: async (dice: Dice) => {
      // Not by chance: a proof without one would prove nothing.
      const isWrong = done.lies >= 4 * (done["lies with a wrong token"] + 1);
      const object = dice.pick(["", ...mappings.map((mapping) => `?object=${mapping.object}`), "?object=Nothing__c"]);
      done[isWrong ? "lies with a wrong token" : "lies"] += 1;
      await door.pass((isWrong ? withWrongToken(path) : path) + object);
    },
    /** Rings for the object of a mapping. */
    ring: ({ object }: Proved) => door.pass(`${path}?object=${object}`),
    /** What the application says after a commit or for nothing, and does not wait for. */
    nudge: (dice: Dice) => {
      const table = dice.isUnder(0.5) ? `?table=${dice.pick(mappings)?.table}` : "";
      for (let copies = dice.below(3); copies > 0 && open < MOST_OPEN_NUDGES; copies--) {
        done.nudges += 1;
        open += 1;
        // Refused while its mapping is inactive; and a proof that ends does not wait for it.
        stage
          .api("POST", `/nudge${table}`)
          .catch(() => undefined)
          .finally(() => {
            open -= 1;
          });
      }
    },
    /** Rings and nudges by what happened to them, and the wake-ups that they caused. */
    figures: (): Counts => ({
      ...door.rings,
      ...done,
      "pulls rung": woken("ring"),
      "pushes nudged": woken("nudge"),
    }),
    /** Each kind of fault that has met no ring yet meets one: that of a record that `save` saves. */
    spoilTheRest: async (save: (mapping: Proved) => Promise<unknown>) => {
      const [mapping] = rung;
      for (const fault of RING_FAULTS.filter((one) => door.rings[one] === 0)) {
        door.force(fault);
        if (mapping) await save(mapping);
        await untilMet(fault);
      }
      door.force(null);
    },
  };
}
