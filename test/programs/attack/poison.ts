import { PutCommand, ScanCommand } from "@aws-sdk/lib-dynamodb";
import {
  counters,
  database,
  engineReports,
  eventRows,
  mappings,
  workspaces,
} from "../../../functions/services/composition.ts";
import { scraper } from "../../../lib/metrics/scrape.ts";
import { API_LABELS } from "../../../lib/model/totals.ts";
import { readFleet } from "../../../lib/settings/workspaces/fleet.ts";
import { ATTRIBUTES, columnsToPoison, keepTables, poisonsOf } from "../../support/doubles/poisons.ts";
import { type Attacked, cycle, HANG_MILLISECONDS, inTime, type Part } from "./world.ts";

/** Endpoints of the poisoned workspace, which must answer, and those of another one, which must answer well. */
const OWN = ["/monitoring/activity", "/monitoring/errors", "/monitoring/mappings", "/monitoring/failures", "/health"];
const OTHERS = ["/mappings", "/health", "/monitoring/budget"];

/** The worst of a tenant's database and of stored items: no other tenant, scraper or operator meets it. */
export const poison: Part = async (world) => {
  const { sql, size, bridge } = world;
  const other = await bridge.createWorkspace("other");
  await counters().set({ ...TOTALS, workspaceId: other.id }, new Date());
  const look = async (of: string) =>
    [...(await wrongAbout(world, other)), ...(await scraped(other.id))].map((one) => `${of}: ${one}`);
  const findings: string[] = [];
  let tried = 0;

  const columns = await columnsToPoison(sql, "salesforce");
  const statements = columns.flatMap((column) => poisonsOf("salesforce", column));
  const isFirst = (statement: string) => statement.includes('"api_calls" = \'{"SOAP": null,');
  const event = `INSERT INTO salesforce._bridge_outbox (event, detail) VALUES ('__proto__', '{}')`;
  const restore = await keepTables(sql, "salesforce");
  const some = statements.filter((one, at) => at % (size.every * 4) === 0 || isFirst(one));
  for (const statement of [event, ...some]) {
    // What a constraint refuses, no owner writes either.
    const isWritten = await sql(statement).then(
      () => true,
      () => false,
    );
    if (!isWritten) continue;
    tried += 1;
    await cycle(world);
    findings.push(...(await look(statement.slice(0, 140))));
    await again(restore);
  }
  for (const [of, poisoned, good] of (await poisonedItems(world)).filter((_, at) => at % (size.every * 4) === 0)) {
    await poisoned();
    tried += 1;
    findings.push(...(await look(of)));
    await good();
  }
  return { tried, findings };
};

const TOTALS = { mappingId: "map_other", sfObject: "Account", rowsSynced: 7, rowsFailed: 2, apiCalls: { SOAP: 4 } };

/** A beat that runs beside may be in the way of it. */
async function again(work: () => Promise<void>): Promise<void> {
  for (let left = 20; ; left -= 1) {
    try {
      return await work();
    } catch (error) {
      if (left === 0) throw error;
    }
  }
}

/** Each attribute of each item that a tenant's database fills, with each value: what stores that, and what restores it. */
async function poisonedItems({ workspace }: Attacked) {
  const { client, table } = database();
  const found = await Promise.all(
    (["counters", "engine"] as const).map(async (name) => {
      const { Items = [] } = await client.send(new ScanCommand({ TableName: table(name) }));
      const put = (Item: object) => async () =>
        void (await client.send(new PutCommand({ TableName: table(name), Item })));
      return Items.filter(({ pk }) => String(pk).startsWith(workspace.id)).flatMap((item) =>
        Object.keys(item)
          .filter((attribute) => attribute !== "pk" && attribute !== "sk")
          .flatMap((attribute) =>
            ATTRIBUTES.map((value) => {
              const of = `${name} ${item["sk"]} ${attribute} = ${JSON.stringify(value).slice(0, 60)}`;
              return [of, put({ ...item, [attribute]: value }), put(item)] as const;
            }),
          ),
      );
    }),
  );
  return found.flat();
}

/** What both workspaces' readers and a scraper meet. */
async function wrongAbout({ doors, workspace }: Attacked, other: Attacked["workspace"]): Promise<readonly string[]> {
  const asked = [
    ...OTHERS.map((path) => ({ path: `/api/v1/t/${other.id}${path}`, token: other.token, isOther: true })),
    ...OWN.map((path) => ({ path: `/api/v1/t/${workspace.id}${path}`, token: workspace.token, isOther: false })),
    { path: "/api/metrics", token: undefined, isOther: true },
  ];
  const wrong = asked.map(async ({ path, token, isOther }) => {
    const answer = await inTime(doors.ask("GET", path, token === undefined ? {} : { token }), HANG_MILLISECONDS);
    // What its owner wrote may be none of the words that the API describes.
    if (typeof answer === "string") return !isOther && answer.includes("not described") ? [] : [`${path}: ${answer}`];
    return answer.status >= 500 && isOther ? [`${path} answers ${answer.status}`] : [];
  });
  return (await Promise.all(wrong)).flat();
}

/** The same as of now, for a function shows what it read some seconds ago. */
async function scraped(otherId: string): Promise<readonly string[]> {
  try {
    const text = await scraper(counters(), engineReports())(new Date());
    const labels = [...text.matchAll(/api_calls_total\{workspace_id="[^"]*",api="((?:[^"\\]|\\.)*)"/g)];
    const strange = labels.map(([, label = ""]) => label).filter((label) => !API_LABELS.some((one) => one === label));
    const line = `bridge_sync_rows_total{workspace_id="${otherId}",object="Account"} 7`;
    const needs = { workspaces: workspaces(), counters: counters(), engine: engineReports(), mappings: mappings() };
    const isInFleet = (await readFleet(needs)).some(({ id, rows_refused }) => id === otherId && rows_refused === 2);
    for await (const _ of eventRows().late(new Date(Date.now() + 3_600_000)));
    return [
      ...strange.map((label) => `a label of the tenant's: ${label}`),
      ...(text.includes(line) ? [] : ["the metrics lack another workspace"]),
      ...(isInFleet ? [] : ["the fleet lacks another workspace"]),
    ];
  } catch (error) {
    return [`the metrics, the fleet or the sending of late events fails: ${String(error).slice(0, 200)}`];
  }
}
