import { dirname, join } from "node:path";
import type { InstanceFile } from "./instance-file.ts";

/** What a newcomer reads when everything runs: where things are, and what to try next. */
export function welcome(instance: InstanceFile, filePath: string): string {
  const lines = [
    "",
    "Bridge is running. Ctrl-C stops it; the next start finds everything as it was.",
    "",
    `  API         ${instance.base_url}/api/v1`,
    `  Metrics     ${instance.metrics_url}`,
    `  PostgreSQL  ${instance.database_url}`,
    `  Salesforce  ${instance.salesforce.url}  (embedded org, ${instance.salesforce.username})`,
    `  Log         ${join(dirname(filePath), "bridge.log")}`,
    `  Kept in     ${filePath} (readable by you alone)`,
  ];
  return [...lines, ...(instance.workspace_id === null ? firstWorkspace() : firstRow(instance)), ""].join("\n");
}

function firstWorkspace(): string[] {
  return ["", "There is no workspace yet. Make one:", "", "  npx bridge workspace create --help"];
}

function firstRow({ base_url, workspace_id, api_token, database_url, salesforce }: InstanceFile): string[] {
  return [
    "",
    "Write a row, and within ten seconds Salesforce has it:",
    "",
    `  psql '${database_url}' -c \\`,
    `    "INSERT INTO salesforce.contact (lastname, email) VALUES ('Lovelace', 'ada@example.com')"`,
    "",
    "See what became of it:",
    "",
    `  curl -s -H 'Authorization: Bearer ${api_token}' \\`,
    `    ${base_url}/api/v1/t/${workspace_id}/monitoring/activity`,
    "",
    "Ask the org itself:",
    "",
    `  curl -s -H 'Authorization: Bearer ${salesforce.access_token}' \\`,
    `    '${salesforce.url}/services/data/v66.0/query?q=SELECT+Id,LastName,Email+FROM+Contact'`,
  ];
}
