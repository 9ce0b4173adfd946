import type { PreparationName } from "../blocks.ts";
import type { Reader } from "../reader.ts";
import {
  drizzle,
  herokuAtOnce,
  herokuConnect,
  herokuRehearsal,
  leftHerokuConnect,
  lostWorkspace,
  tableOfYours,
} from "./databases.ts";
import { connectedApp, doorbell } from "./orgs.ts";
import { embeddedOrg, examples, npm, psql, upgrade } from "./programs.ts";
import { conflict, failures } from "./rows.ts";
import { receiver, sample, webhook } from "./webhooks.ts";

/** Makes what a block needs, types the block, and checks what it has done. */
export const preparations: Readonly<Record<PreparationName, (reader: Reader) => Promise<void>>> = {
  npm,
  upgrade,
  psql,
  examples,
  failures,
  conflict,
  receiver,
  webhook,
  sample,
  doorbell,
  drizzle,
  "embedded-org": embeddedOrg,
  "connected-app": connectedApp,
  "heroku-rehearsal": herokuRehearsal,
  "heroku-at-once": herokuAtOnce,
  "heroku-connect": herokuConnect,
  "left-heroku-connect": leftHerokuConnect,
  "table-of-yours": tableOfYours,
  "lost-workspace": lostWorkspace,
};
