import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { gatherFigures } from "../../../functions/invocation/emit-figures.ts";
import { database } from "../../../functions/services/composition.ts";
import { handler as fanOutCycles } from "../../../functions/workers/fan-out-cycles.ts";
import { handler as runCycle } from "../../../functions/workers/run-cycle.ts";
import { periodAt, phaseOf } from "../../../lib/model/beat.ts";
import type { TableName } from "../../../lib/model/resources.ts";
import type { Figures } from "../../../lib/sync/ports/cycle-ports.ts";
import { firstInGate } from "../../support/run/whole-grid.ts";
import { eachInAWorld, world } from "../world.ts";

eachInAWorld(undefined, { dailyApiRequests: 1000 });
afterEach(() => {
  vi.unstubAllEnvs();
});

test("a cycle shows what Salesforce took and refused, how long the oldest row waits beside the deletes that are held, and the org's use of its calls", async () => {
  await world.mapContact(["LastName", "Email"]);
  await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Accepted'), (NULL)");
  await world.sql(
    `INSERT INTO salesforce._trigger_log (action, table_name, record_id, created_at, due_at, held, "values") VALUES
     ('UPDATE', 'contact', 999, clock_timestamp() - interval '20 minutes', $1, false, '{}'),
     ('DELETE', 'contact', 998, clock_timestamp() - interval '60 minutes', NULL, true, '{}')`,
    [new Date(world.cloud.clock.now() + 3_600_000)],
  );

  await world.cycles();

  const { oldestWaitingSeconds, budgetShare, ...figures } = world.figures.at(-1) ?? QUIET;
  expect(figures).toMatchObject({ accepted: 1, refused: 1, heldDeletes: 1, failed: false });
  expect(oldestWaitingSeconds).toBeGreaterThanOrEqual(1200);
  expect(oldestWaitingSeconds).toBeLessThan(1300);
  expect(budgetShare).toBeGreaterThan(0);
  expect(budgetShare).toBeLessThan(0.1);
});

const QUIET: Figures = {
  accepted: 0,
  refused: 0,
  oldestWaitingSeconds: 5,
  budgetShare: 0.3,
  heldDeletes: 0,
  failed: false,
};

test("the cycles of one invocation are one line of CloudWatch's embedded metrics, of the stage and of no mapping", () => {
  vi.stubEnv("METRICS_NAMESPACE", "Bridge");
  vi.stubEnv("STAGE", "prod");

  const [line, ...others] = linesFor(
    { accepted: 3, refused: 0, oldestWaitingSeconds: 12.4, budgetShare: null, heldDeletes: 0, failed: false },
    { accepted: 1, refused: 2, oldestWaitingSeconds: 905.2, budgetShare: 0.8765, heldDeletes: 20, failed: true },
    { ...QUIET, oldestWaitingSeconds: null },
  );

  expect(others).toEqual([]);
  expect(JSON.parse(line ?? "")).toEqual({
    _aws: {
      Timestamp: expect.any(Number),
      CloudWatchMetrics: [
        {
          Namespace: "Bridge",
          Dimensions: [["Stage"]],
          Metrics: [
            { Name: "RowsAccepted", Unit: "Count" },
            { Name: "RowsFailed", Unit: "Count" },
            { Name: "OldestWaitingSeconds", Unit: "Seconds" },
            { Name: "OrgBudgetUsed", Unit: "Percent" },
            { Name: "DeletesHeld", Unit: "Count" },
            { Name: "CyclesFailed", Unit: "Percent" },
          ],
        },
      ],
    },
    Stage: "prod",
    RowsAccepted: 4,
    RowsFailed: 2,
    OldestWaitingSeconds: 905,
    OrgBudgetUsed: 87.7,
    DeletesHeld: 20,
    CyclesFailed: 33.3,
  });
  expect(line).toMatch(/^[^\n]+\n$/);
});

test("idle cycles cost no line, and neither does one on this machine", () => {
  vi.stubEnv("METRICS_NAMESPACE", "Bridge");
  expect(linesFor(QUIET, QUIET)).toEqual([]);

  vi.stubEnv("METRICS_NAMESPACE", "");
  expect(linesFor({ ...QUIET, refused: 5 })).toEqual([]);
});

describe("a cycle that does not begin, or that an error ends, is reported whatever happens to its own report:", () => {
  beforeEach(async () => {
    await world.mapContact(["LastName"]);
    await world.cycles();
    vi.stubEnv("METRICS_NAMESPACE", "Bridge");
  });

  const item = (table: TableName, sk: string, set: string) =>
    database().client.send(
      new UpdateCommand({
        TableName: database().table(table),
        Key: { pk: world.workspaceId, sk },
        UpdateExpression: `SET ${set} = :wrong`,
        ExpressionAttributeValues: { ":wrong": "unreadable" },
      }),
    );

  const orgRefusesLogin = async () => {
    await world.fault({ kind: "refusedGrant", path: "oauth2/token", times: 0 });
    await world.control("DELETE", "/sessions");
  };
  const anHour = () => world.pass(3_600); // an org of a thousand calls a day is asked rarely
  const state = "salesforce._bridge_state";

  /** What prevents it, and whether its message comes back. */
  const PATHS: [string, () => Promise<unknown>, comesBack?: true][] = [
    ["the mappings cannot be read", () => item("mappings", "head", "generation"), true],
    [
      "the org does not answer",
      () => world.fault({ kind: "serverError", path: "services/data", times: 0 }).then(anHour),
    ],
    ["the org refuses the login", () => orgRefusesLogin().then(anHour)],
    ["the beat rests after such a refusal", () => orgRefusesLogin().then(() => world.cycles())],
    ["the database accepts no connection", () => world.databaseGoesAway()],
    ["the credentials cannot be decrypted", () => item("workspaces", "workspace", "postgres")],
    ["the database lacks Bridge's tables", () => world.sql(`DELETE FROM ${state}`)],
    ["its end cannot be kept", () => world.sql(`ALTER TABLE ${state} ADD CHECK (lease_until IS NOT NULL) NOT VALID`)],
    ["the engine's memory cannot be read", () => item("engine", `mapping#${world.contact.id}`, "broken_since"), true],
  ];

  const beat = () =>
    linesOf(async () => {
      const slot = Math.floor(world.cloud.clock.now() / 1000);
      const message = { workspace_id: world.workspaceId, mapping_id: world.contact.id, kind: "beat", slot };
      return runCycle({ Records: [{ messageId: "one", body: JSON.stringify(message) }] } as SQSEvent);
    });

  test.each(firstInGate(2, PATHS))("%s", async (_, prevent, comesBack) => {
    await world.pass(50);
    expect(await beat(), "one that goes well costs no line").toEqual({ answer: { batchItemFailures: [] }, lines: [] });

    await prevent();
    await world.pass(50);

    const { lines, answer } = await beat();

    expect(answer.batchItemFailures).toHaveLength(comesBack ? 1 : 0);
    expect(lines).toMatchObject([{ CyclesFailed: 100 }]);
  });

  test("the fan-out cannot send its beats", async () => {
    vi.stubEnv("QUEUE_CYCLES", `${process.env["QUEUE_CYCLES"]}-gone`);

    const { lines, answer } = await linesOf(async () => {
      const period = periodAt(new Date(world.cloud.clock.now()), phaseOf(world.workspaceId));
      const scheduled_at = new Date(period * 1000).toISOString();
      const tick = { workspace_id: world.workspaceId, mapping_id: world.contact.id, scheduled_at };
      return fanOutCycles({ Records: [{ messageId: "one", body: JSON.stringify(tick) }] } as SQSEvent);
    });

    expect(answer.batchItemFailures).toHaveLength(1);
    expect(lines).toMatchObject([{ CyclesFailed: 100 }]);
  });
});

/** The lines for CloudWatch that a worker writes, and what it answers the queue. */
async function linesOf(work: () => Promise<SQSBatchResponse>) {
  const written = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  try {
    const answer = await work();
    const texts = written.mock.calls.map(([text]) => String(text)).filter((text) => text.includes("CloudWatchMetrics"));
    return { answer, lines: texts.map((text) => JSON.parse(text) as Record<string, unknown>) };
  } finally {
    written.mockRestore();
  }
}

function linesFor(...figures: readonly Figures[]): readonly string[] {
  const lines: string[] = [];
  const gathered = gatherFigures((line) => lines.push(line));
  for (const one of figures) gathered.add(one);
  gathered.emit(figures.length);
  return lines;
}
