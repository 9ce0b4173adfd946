import type { Command } from "commander";
import type { Does } from "../context.ts";

const commands = () => import("../commands/connect.ts");

/** `bridge connect …`, `bridge connections`, `bridge schema …`, `bridge objects`, `bridge types`. */
export function addConnectionCommands(program: Command, does: Does): void {
  const connect = program.command("connect").description("connect the workspace to its two sides");
  connect
    .command("postgres")
    .description(
      "connect the database, after a check of its version, rights and TLS; asks for the URL, which is never an option",
    )
    .option("--url-file <file>", "read postgres://user:password@host:port/database from a file; - is standard input")
    .option(
      "--schema <name>",
      "schema of the mapped tables (default: as it was; at first salesforce, or the workspace's name in the database of this machine)",
    )
    .option("--take-over", "take the schema over from another workspace")
    .option("--schema-changes <who>", "apply or propose, as by: bridge schema changes (default: as it was, else apply)")
    .option("--test", "only check the database of --url-file, or the existing connection; change nothing")
    .action(does(async () => (await commands()).connectPostgres));
  connect
    .command("salesforce")
    .description(
      "connect the org: sign in by browser, or with credentials for machines; on one machine without --client-id: its own org",
    )
    .option("--flow <flow>", "web, jwt, client-credentials, refresh-token or password", "web")
    .option(
      "--login-url <url>",
      "the org's My Domain, or for a connected app https://login.salesforce.com or https://test.salesforce.com",
    )
    .option("--client-id <id>", "consumer key of the connected or external client app")
    .option("--client-secret-file <file>", "its secret; - is standard input")
    .option("--username <name>", "for jwt and password")
    .option("--key-file <file>", "private key of the certificate, for jwt")
    .option("--token-file <file>", "for refresh-token")
    .option("--password-file <file>", "for password, security token included")
    .option("--port <port>", "port of this machine to which the browser returns (default: a free one)")
    .option("--test", "only check the existing connection")
    .action(does(async () => (await import("../commands/connect-salesforce.ts")).connectSalesforce));
  program
    .command("connections")
    .description("show the connections of the workspace; secrets are never shown")
    .action(does(async () => (await commands()).showConnections));
  const schema = program
    .command("schema")
    .description("settings of the database: who alters tables, connections, retention; dumps and copies");
  schema
    .command("exclude")
    .description(
      "print options with which pg_dump leaves out Bridge's rows, so that the triggers of the copy log nothing",
    )
    .action(does(async () => (await import("../commands/schema.ts")).excludeFromDump));
  schema
    .command("detach")
    .description("print the statement that removes Bridge's triggers and functions; run it in a full copy")
    .action(does(async () => (await import("../commands/schema.ts")).detachCopy));
  schema
    .command("changes <who>")
    .description(
      "choose who creates and alters mapped tables: apply (Bridge) or propose (your migrations, which Bridge prints)",
    )
    .action(does(async () => (await import("../commands/propose.ts")).changeSchemaChanges));
  schema
    .command("propose")
    .description("print the migration that the mapped tables need, as SQL; run it outside of a transaction")
    .option(
      "--drizzle <folder>",
      "write it into drizzle-kit's folder of migrations as well, and print the columns as code",
    )
    .action(does(async () => (await import("../commands/propose.ts")).propose));
  schema
    .command("connections <number>")
    .description("set the most connections that Bridge opens to the database (default: 10; at least 3)")
    .action(does(async () => (await import("../commands/propose.ts")).changeMaxConnections));
  schema
    .command("retention")
    .description(
      "show or set how long the database keeps changes, conflicts and tombstones, and how the log is vacuumed",
    )
    .option("--log-days <days>", "settled changes of the log, 1 to 3650")
    .option("--conflict-days <days>", "conflicts, 1 to 3650")
    .option("--tombstone-days <days>", "tombstones of deletes, 8 to 3650")
    .option("--autovacuum <parameters...>", "parameters of the log, as in vacuum_scale_factor=0.02; or none")
    .action(does(async () => (await import("../commands/retention.ts")).changeRetention));
  program
    .command("objects [object]")
    .description("list objects of the org, or one object's fields")
    .option("--search <text>", "only names and labels that contain it")
    .option("--parents", "with the external ids that name parents; one API call for each object that lookups point to")
    .action(does(async () => (await import("../commands/objects.ts")).objects));
  program
    .command("types [mapping]")
    .description("write the rows of the mapped tables, or of one, as code; one API call for each object")
    .requiredOption(
      "--for <language>",
      "ts: interfaces as node-postgres gives rows; drizzle: tables of a Drizzle schema",
    )
    .action(does(async () => (await import("../commands/types.ts")).writeTypes));
}
