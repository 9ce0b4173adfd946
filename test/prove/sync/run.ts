import type { Dice } from "../../support/dice.ts";
import type { Receiver } from "../../support/receiver.ts";
import type { Application } from "./application.ts";
import type { Colleagues } from "./colleagues.ts";
import type { Desk } from "./desk.ts";
import type { Proved } from "./mapped-objects.ts";
import type { Stage } from "./stage.ts";
import type { Trouble } from "./trouble.ts";

/** How much is to be proved. The trouble goes on until all three are reached, and until every point had its incidents. */
export interface Asked {
  readonly seed: number;
  readonly minutes: number;
  readonly kills: number;
  readonly changes: number;
  readonly mappings: number;
  /** Whether every point is killed and stopped at, before and after, instead of killed once. */
  readonly isLong: boolean;
  readonly say: (text: string) => void;
}

/** Everything that a proof works with. */
export interface Run {
  readonly asked: Asked;
  readonly dice: Dice;
  readonly stage: Stage;
  readonly desk: Desk;
  readonly trouble: Trouble;
  readonly mappings: readonly Proved[];
  readonly application: Application;
  readonly colleagues: Colleagues;
  readonly receiver: Receiver;
  /** Kills and stops of parts that are no functions. */
  readonly parts: Record<string, { kills: number; stops: number }>;
}

/** The functions that carry changes; the others only answer requests. */
export const ENGINE = ["fan-out-cycles", "run-cycle", "load-mapping", "provision-mapping", "dispatch-events"];
