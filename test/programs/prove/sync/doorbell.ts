import { setTimeout as pause } from "node:timers/promises";
import type { Dice } from "../../../support/doubles/dice.ts";
import type { Proved } from "./mapped-objects.ts";
import type { Queries } from "./queries.ts";
import { RING_FAULTS, type RingFault, withWrongToken } from "./stage/door.ts";
import type { Stage } from "./stage/stage.ts";
import type { Trouble } from "./trouble.ts";

/** Both sides' doorbells: the org's rings, which go wrong on their way, those that lie, and the application's nudges. */
export interface Doorbell {
  /** From now on the org rings for changes of the mappings that are switched on. */
  hang(): Promise<void>;
  /** Nothing of the org rings for a while. */
  die(dice: Dice): Promise<void>;
  /** Rings although nothing has changed, here or there, or with a wrong token. */
  lie(dice: Dice): Promise<void>;
  /** Rings for the object of a mapping. */
  ring(mapping: Proved): Promise<void>;
  /** What the application says after a commit or for nothing, and does not wait for. */
  nudge(dice: Dice): void;
  /** Rings and nudges by what happened to them, and the wake-ups that they caused. */
  figures(): Readonly<Record<string, number>>;
  /** Each kind of fault that has met no ring yet meets one: that of a record that `save` saves. */
  spoilTheRest(save: (mapping: Proved) => Promise<unknown>): Promise<void>;
}

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

export function createDoorbell({ stage, queries, mappings, trouble }: Settings): Doorbell {
  const { door } = stage;
  const rung = mappings.filter(({ rings }) => rings);
  const done = { lies: 0, "lies with a wrong token": 0, nudges: 0 };
  let open = 0;
  const deaths: RingFault[] = ["lost", "refused"];
  let path = "";
  const woken = (worker: string) =>
    [...trouble.passed].reduce((sum, [point, times]) => sum + (point.startsWith(`${worker} | sqs:`) ? times : 0), 0);

  return {
    hang: async () => {
      const { url } = (await stage.api("POST", "/doorbell")) as { url: string };
      path = new URL(url).pathname;
      const messages = rung.map(({ object }) => ({ object, url: `${url}?object=${object}` }));
      await queries.control("PUT", "/outbound", { messages });
    },
    die: async (dice) => {
      const death = deaths.reverse()[0] ?? "lost";
      const latest = Date.now() + LONGEST_MILLISECONDS;
      door.force(death);
      await pause(1_000 + dice.below(4_000));
      while (door.rings[death] === 0 && Date.now() < latest) await pause(100);
      door.force(null);
    },
    lie: async (dice) => {
      // Not by chance: a proof without one would prove nothing.
      const isWrong = done.lies >= 4 * (done["lies with a wrong token"] + 1);
      const object = dice.pick(["", ...mappings.map((mapping) => `?object=${mapping.object}`), "?object=Nothing__c"]);
      done[isWrong ? "lies with a wrong token" : "lies"] += 1;
      await door.pass((isWrong ? withWrongToken(path) : path) + object);
    },
    ring: async ({ object }) => {
      await door.pass(`${path}?object=${object}`);
    },
    nudge: (dice) => {
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
    figures: () => ({ ...door.rings, ...done, "pulls rung": woken("ring"), "pushes nudged": woken("nudge") }),
    spoilTheRest: async (save) => {
      const [mapping] = rung;
      const latest = Date.now() + LONGEST_MILLISECONDS;
      for (const fault of RING_FAULTS.filter((one) => door.rings[one] === 0)) {
        door.force(fault);
        if (mapping) await save(mapping);
        while (door.rings[fault] === 0 && Date.now() < latest) await pause(50);
      }
      door.force(null);
    },
  };
}
