import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { nameIn } from "../infra/options/settings.ts";
import { TABLES, type TableName, tableVariable } from "../model/resources.ts";

/** What the operator's commands (`bridge workspace create`) need to reach this instance's tables. */
export function operatorEnvironment(cloud: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const tables = (Object.keys(TABLES) as TableName[]).map(
    (name) => [tableVariable(name), nameIn("dev", name)] as const,
  );
  return {
    ...cloud,
    ...Object.fromEntries(tables),
    KEY_ID: "alias/bridge-dev",
    STAGE: "dev",
    SCHEDULE_GROUP: "bridge-dev",
  };
}

/** Writes it for the command line; it opens everything, so only its owner reads it. */
export function writeOperatorFile(dataDir: string, environment: Readonly<Record<string, string>>): void {
  writeFileSync(join(dataDir, "operator.json"), `${JSON.stringify({ environment }, null, 2)}\n`, { mode: 0o600 });
}
