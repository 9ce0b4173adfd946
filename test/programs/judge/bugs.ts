import type { Bug } from "./bug.ts";
import { CONFIGURATION_BUGS } from "./bugs/configuration.ts";
import { CONTRACT_BUGS } from "./bugs/contract.ts";
import { DELIVERY_BUGS } from "./bugs/delivery.ts";
import { FIGURE_BUGS } from "./bugs/figures.ts";
import { GATE_BUGS } from "./bugs/gate.ts";
import { INFRA_BUGS } from "./bugs/infra.ts";
import { LEASE_BUGS } from "./bugs/lease.ts";
import { LIMIT_BUGS } from "./bugs/limits.ts";
import { PEOPLE_BUGS } from "./bugs/people.ts";
import { PULL_BUGS } from "./bugs/pull.ts";
import { PUSH_BUGS } from "./bugs/push.ts";
import { SECRET_BUGS } from "./bugs/secrets.ts";

/** All bugs that the judge plants. */
export const BUGS: readonly Bug[] = [
  ...CONTRACT_BUGS,
  ...GATE_BUGS,
  ...CONFIGURATION_BUGS,
  ...FIGURE_BUGS,
  ...DELIVERY_BUGS,
  ...LEASE_BUGS,
  ...PUSH_BUGS,
  ...PULL_BUGS,
  ...LIMIT_BUGS,
  ...SECRET_BUGS,
  ...INFRA_BUGS,
  ...PEOPLE_BUGS,
];
