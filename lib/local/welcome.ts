import { basename, dirname, join } from "node:path";
import { hasWriter } from "./demo/demo-writer.ts";
import type { InstanceFile } from "./instance-file.ts";

/** What a newcomer reads when everything runs: where things are, and what to try next. */
export function welcome(instance: InstanceFile, filePath: string): string {
  const lines = [
    "",
    "Bridge is running. Ctrl-C stops it; the next start finds everything as it was.",
    "",
    `  Console     ${consoleUrl(instance)}`,
    `  API         ${instance.base_url}/api/v1`,
    `  Metrics     ${instance.metrics_url}`,
    `  PostgreSQL  ${instance.database_url}`,
    `  Salesforce  ${instance.salesforce.url}  (embedded org, ${instance.salesforce.username})`,
    `  Log         ${join(dirname(filePath), "bridge.log")}`,
    `  Kept in     ${filePath} (readable by you alone)`,
  ];
  return [...lines, ...(instance.workspace_id === null ? firstWorkspace() : firstRow(instance, filePath)), ""].join(
    "\n",
  );
}

/** Signs the user in: what follows the hash is never sent to a server. */
function consoleUrl({ base_url, workspace_id, api_token }: InstanceFile): string {
  if (workspace_id === null || api_token === null) return `${base_url}/`;
  return `${base_url}/#/sign-in?${new URLSearchParams({ workspace: workspace_id, token: api_token })}`;
}

function firstWorkspace(): string[] {
  return ["", "There is no workspace yet. Create one:", "", "  npx bridge workspace create --help"];
}

function firstRow({ database_url, salesforce }: InstanceFile, filePath: string): string[] {
  const bridge = process.env["npm_lifecycle_event"] === undefined ? "node bin/bridge.mjs" : "npx bridge";
  const elsewhere = basename(dirname(filePath)) === ".bridge" ? "" : `BRIDGE_DATA_DIR=${dirname(filePath)} `;
  const say = `  ${elsewhere}${bridge}`;
  if (!hasWriter(dirname(filePath)))
    return [
      "",
      "Write a row, and within ten seconds Salesforce has it; change a record, and the row follows:",
      "",
      `${say} sql "INSERT INTO salesforce.contact (lastname, email) VALUES ('Lovelace', 'ada@example.com')"`,
      `${say} activity --follow`,
      `${say} soql "SELECT Id, LastName, Email FROM Contact"`,
      "",
      `Any PostgreSQL client works as well: psql '${database_url}'. All commands: ${bridge} --help`,
    ];
  const record = `${salesforce.url}/services/data/v68.0/sobjects/Contact/External_Id__c/demo-contact-2`;
  return [
    "",
    "Try it. 200 accounts and contacts are on both sides. Salesforce refused one contact, and one will have a conflict.",
    "Write a row; within ten seconds Salesforce has it:",
    "",
    `${say} sql "UPDATE salesforce.contact SET title = 'Countess' WHERE external_id__c = 'demo-contact-2'"`,
    "",
    "See its result, and why the other one was refused:",
    "",
    `${say} row Contact demo-contact-2`,
    `${say} errors --grouped`,
    "",
    "Change the record in Salesforce; the row follows:",
    "",
    `  curl -X PATCH ${record} -H 'Authorization: Bearer ${salesforce.access_token}' -H 'Content-Type: application/json' -d '{"Title":"Admiral"}'`,
    "",
    "A writer changes a sample row or record every eight seconds, for an hour. End it:",
    "",
    `${say} demo stop`,
    "",
    `All commands: ${bridge} --help`,
  ];
}
