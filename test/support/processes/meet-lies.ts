import pg from "pg";
import { openSession } from "../../../lib/adapters/postgres/session/session.ts";
import { guardConnections } from "../../../lib/network/guarded-dns.ts";
import { failureOf } from "../../../lib/sync/report/cycle-failure.ts";
import type { Moment } from "../doubles/lying-postgres.ts";

/** What this process is to do on a database that lies. */
export interface Meeting {
  readonly url: string;
  readonly moment: Moment;
}

/** What it came to; `honest`: whether an honest database served beside it. */
export interface Met {
  readonly error: {
    readonly name: string;
    readonly code: string;
    readonly message: string;
    readonly reason: string;
  } | null;
  readonly honest: boolean;
}

const [honestUrl = "", door = "session"] = process.argv.slice(2);

// An adapter alone, without the composition that says what may be reached.
guardConnections(() => null);
const honest = await openSession({ url: honestUrl, schema: "salesforce" });

process.on("message", async (meeting: Meeting) => {
  const [error, rows] = await Promise.all([
    (door === "session" ? meet(meeting) : meetUnguarded(meeting)).then(() => null, asSeen),
    honest.query("SELECT 1 AS one"),
  ]);
  process.send?.({ error, honest: rows.length === 1 } satisfies Met);
});
process.send?.("ready");

async function meet({ url, moment }: Meeting): Promise<void> {
  const session = await openSession({ url, schema: "salesforce" });
  try {
    if (moment === "instead of a copy" || moment === "in a copy") await session.copy("COPY one FROM STDIN", ["1\n"]);
    else if (moment === "in a result with parameters") await session.query("SELECT $1::int AS one", [1]);
    else await session.script("SELECT 1 AS one");
  } finally {
    await session.close();
  }
}

/** By the driver alone, as a hole in the product would be. */
async function meetUnguarded({ url }: Meeting): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on("error", () => undefined);
  await client.connect();
  await client.query("SELECT 1 AS one");
  await client.end();
}

function asSeen(error: unknown): Met["error"] {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return { name, code, message, reason: failureOf(error).reason };
}
