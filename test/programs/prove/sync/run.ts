import type { Dice } from "../../../support/doubles/dice.ts";
import type { Receiver } from "../../../support/doubles/receiver.ts";
import type { Application } from "./application.ts";
import type { Colleagues } from "./colleagues.ts";
import type { Doorbell } from "./doorbell.ts";
import type { Proved } from "./mapped-objects.ts";
import type { Migrator } from "./migrator.ts";
import type { Queries } from "./queries.ts";
import type { Restorer } from "./restorer.ts";
import type { Parts } from "./stage/parts.ts";
import type { Stage } from "./stage/stage.ts";
import type { Trouble } from "./trouble.ts";

/** How much must be proved. */
export interface Asked {
  readonly seed: number;
  readonly mappings: number;
  /** How often either side is restored to an earlier time. Above 0 the proof ends with them, and nothing else must be reached. */
  readonly restores: number;
  /** What is done at points: a kill at every third, at each, or a quarter of everything that can be done at each. */
  readonly extent: "brief" | "usual" | "thorough";
  readonly say: (text: string) => void;
}

/** Everything that a proof works with. */
export interface Run {
  readonly asked: Asked;
  readonly dice: Dice;
  readonly stage: Stage;
  readonly queries: Queries;
  readonly trouble: Trouble;
  readonly mappings: readonly Proved[];
  readonly application: Application;
  readonly colleagues: Colleagues;
  readonly migrator: Migrator;
  readonly doorbell: Doorbell;
  readonly receiver: Receiver;
  readonly restorer: Restorer;
  /** What is no function, and is killed and stopped as well. */
  readonly parts: Parts;
}

/** The functions that carry changes; the others only announce them, or answer requests. */
export const ENGINE = ["fan-out-cycles", "run-cycle", "load-mapping", "provision-mapping", "dispatch-events"];
