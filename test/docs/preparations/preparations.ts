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
import { newPassword, ownDatabase, ownRow } from "./own-database.ts";
import { colleague, leaver, twoStages } from "./people.ts";
import { embeddedOrg, examples, npm, psql, upgrade } from "./programs.ts";
import { compared, conflict, deletedRow, failures } from "./rows.ts";
import { alertWebhook, receiver, sample, webhook } from "./webhooks.ts";

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
  compared,
  colleague,
  leaver,
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
  "own-database": ownDatabase,
  "own-row": ownRow,
  "new-password": newPassword,
  "two-stages": twoStages,
  "deleted-row": deletedRow,
  "alert-webhook": alertWebhook,
};
