import { parseArgs } from "node:util";
import { Client } from "pg";
import { keepCall, refuse } from "./stub.ts";

// Replaces psql: `psql URL -c STATEMENT`.

const { values, positionals } = parseArgs({
  options: { command: { type: "string", short: "c" } },
  allowPositionals: true,
});
const [connectionString] = positionals;
if (connectionString === undefined || positionals.length > 1 || values.command === undefined)
  refuse("it takes a URL and -c");
const client = new Client({ connectionString });
await client.connect();
try {
  await client.query(values.command);
} finally {
  await client.end();
}
keepCall("psql");
