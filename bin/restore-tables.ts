import { openDatabase } from "../lib/adapters/dynamodb/client/client.ts";
import { restoreTables } from "../lib/adapters/dynamodb/restore-tables.ts";
import { nameIn } from "../lib/infra/options/settings.ts";
import { readOptions } from "../lib/local/read-options.ts";

const HELP = `npm run restore-tables -- --stage NAME [--suffix=TEXT]: makes each of the stage's tables hold what the table holds that
AWS has restored under its name and the suffix (-restored): bridge-NAME-mappings becomes as bridge-NAME-mappings-restored.
Pause every workspace before. It may be run again, and removes no restored table.
`;

const { stage, suffix = "-restored" } = readOptions(HELP, { stage: { type: "string" }, suffix: { type: "string" } });
try {
  if (!stage) throw new Error("--stage says whose tables");
  const [now, restored] = ["", suffix].map((end) => openDatabase((name) => `${nameIn(stage, name)}${end}`));
  if (now && restored)
    for (const [table, items] of await restoreTables(now, restored))
      console.log(`${nameIn(stage, table)}: ${items} items`);
} catch (error) {
  console.error(`Refused: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
