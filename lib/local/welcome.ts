import { dirname, join, resolve } from "node:path";
import { hasWriter, minutesLeft } from "./demo/demo-writer.ts";
import type { InstanceFile } from "./instance-file.ts";

/** What a newcomer reads when everything runs: the console's address, and the one command to try first. */
export function welcome(instance: InstanceFile, filePath: string): string {
  const folder = dirname(filePath);
  const bridge = process.env["npm_lifecycle_event"] === undefined ? "node bin/bridge.mjs" : "npx bridge";
  const elsewhere = resolve(folder) === resolve(".bridge") ? "" : `BRIDGE_DATA_DIR=${folder} `;
  const isLiving = instance.workspace_id !== null && hasWriter(folder);
  return [
    "",
    "Bridge is running. Ctrl-C stops it; the next start finds everything as it was.",
    "",
    `  Console  ${consoleUrl(instance)}`,
    `  Try it   ${elsewhere}${bridge} ${firstCommand(instance, isLiving)}`,
    "",
    `Addresses and passwords: ${filePath}; the log: ${join(folder, "bridge.log")}; all else: ${bridge} --help`,
    ...(isLiving ? [aboutWriter(minutesLeft(folder), `${elsewhere}${bridge} demo`)] : []),
    "",
  ].join("\n");
}

const aboutWriter = (minutes: number, demo: string): string =>
  minutes === 0
    ? `The writer of sample rows is stopped. To start it: ${demo} start`
    : `A writer changes sample rows for ${minutes} minutes. To end it: ${demo} stop`;

/** Signs the user in: what follows the hash is never sent to a server. */
function consoleUrl({ base_url, workspace_id, api_token }: InstanceFile): string {
  if (workspace_id === null || api_token === null) return `${base_url}/`;
  return `${base_url}/#/sign-in?${new URLSearchParams({ workspace: workspace_id, token: api_token })}`;
}

function firstCommand({ workspace_id }: InstanceFile, isLiving: boolean): string {
  if (workspace_id === null) return "workspace create --help";
  return isLiving
    ? `sql "UPDATE salesforce.contact SET title = 'Countess' WHERE external_id__c = 'demo-contact-2'"`
    : `sql "INSERT INTO salesforce.contact (lastname, email) VALUES ('Lovelace', 'ada@example.com')"`;
}
