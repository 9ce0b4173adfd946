import { setTimeout as pause } from "node:timers/promises";
import { mappings } from "../../../../functions/services/composition.ts";
import { entryOf } from "../../../support/worlds/carry-out.ts";
import { startHostedBridge } from "../../../support/worlds/hosted-bridge.ts";
import { createTestWorkspace } from "../../../support/worlds/workspace.ts";
import { startBenchOrg } from "../sync/bench-org.ts";
import type { Figure } from "../sync/figure.ts";
import { total, watchDatabase } from "./statements.ts";

/** After an import each mapping is beaten alone, until the ticks of its schedule have come. */
const ALONE_SECONDS = 310;
/** As long as from one checkpoint to the next, after which each page is written whole once. */
const BEATS = 30;
const BEATS_A_DAY = 8_640;

const FIELDS = [
  { name: "Key__c", type: "text", length: 40, externalId: true, unique: true } as const,
  ...Array.from({ length: 10 }, (_, at) => ({ name: `Field${at}__c`, type: "text", length: 80 }) as const),
];

/** What so many idle mappings of one workspace cost their database on the running host, whose ticks come as they do. */
export async function measureIdle(server: string, count: number, say: (text: string) => void): Promise<Figure[]> {
  const objects = Array.from({ length: count }, (_, at) => ({ name: `Idle${at + 1}__c`, fields: FIELDS }));
  const org = await startBenchOrg({}, [], { objects });
  const database = await watchDatabase(server);
  const bridge = await startHostedBridge({ log: () => undefined });
  const print = console.log;
  console.log = () => undefined;
  try {
    const postgres = { url: database.url, schema: "salesforce" };
    const { id, token } = await createTestWorkspace({ postgres, salesforce: org.connection });
    const fields = { fields: ["Name", ...FIELDS.map(({ name }) => name)], upsertField: "Key__c" };
    const body = JSON.stringify({
      version: 1,
      mappings: objects.map(({ name }) => entryOf({ object: name, ...fields })),
    });
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const answer = await fetch(`${bridge.host.baseUrl}/api/v1/t/${id}/config/import`, {
      method: "POST",
      headers,
      body,
    });
    if (!answer.ok) throw new Error(await answer.text());
    const isReady = async () => (await mappings().list(id)).mappings.every((one) => one.provisioning.state === "ready");
    while (!(await isReady())) await pause(500);
    await pause(ALONE_SECONDS * 1000);
    await database.client.query("CHECKPOINT");
    await database.reset();
    const lsn = async () =>
      Number((await database.client.query("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS at")).rows[0].at);
    const before = await lsn();
    await pause(BEATS * 10_000);
    const wal = (await lsn()) - before;
    const taken = (await database.taken()).filter(({ text }) => !text.includes("pg_current_wal_lsn"));
    for (const { text, statements, walBytes } of taken.toSorted((a, b) => b.statements - a.statements))
      say(`${statements} × ${Math.round(walBytes / statements)} B  ${text.replaceAll(/\s+/g, " ").slice(0, 110)}`);
    const each = count * BEATS;
    return [
      {
        name: `idle, ${count} mappings: statements a mapping and beat`,
        value: total(taken, "statements") / each,
        unit: "",
        atMost: count === 10 ? 0.6 : Infinity,
      },
      {
        name: "  WAL a mapping and day, of the statements",
        value: ((total(taken, "walBytes") / each) * BEATS_A_DAY) / 1e6,
        unit: "MB",
        atMost: 1,
      },
      { name: "  the same, all WAL of the server", value: ((wal / each) * BEATS_A_DAY) / 1e6, unit: "MB" },
    ];
  } finally {
    console.log = print;
    await bridge.close();
    await database.close();
    org.end();
  }
}
