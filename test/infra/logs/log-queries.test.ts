import { globSync, readFileSync } from "node:fs";
import type { SQSEvent } from "aws-lambda";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { handler as listMappings } from "../../../functions/api/list-mappings.ts";
import { handler as runCycle } from "../../../functions/workers/run-cycle.ts";
import { openLambda } from "../../../lib/http/lambda.ts";
import { call } from "../../support/clients/call.ts";
import { longTest } from "../../support/run/whole-grid.ts";
import { type Asking, anIdleContactForEachTest } from "../../support/worlds/worlds.ts";
import { type Line, logOf, runQuery } from "./logs-insights.ts";

const QUERIES = [...readFileSync("lib/infra/RUNBOOK.md", "utf8").matchAll(/^```insights\n(.*?)^```$/gms)].map(
  ([, query = ""]) => query.trim(),
);

let made: Asking;
anIdleContactForEachTest((asking) => {
  made = asking;
});
beforeEach(() => void vi.stubEnv("AWS_LAMBDA_LOG_FORMAT", "JSON"));
afterEach(() => void vi.unstubAllEnvs());

const throwing = openLambda(
  {
    summary: "It fails.",
    run: () => Promise.reject(new Error("unforeseen")),
  },
  () => new Date(),
);

/** A failing cycle, a message that cannot be read, a request that is answered, one that is refused and one that fails. */
async function badNight(): Promise<readonly Line[]> {
  const { world, contact, token } = made;
  const path = { workspace_id: world.workspaceId };
  return await logOf(async () => {
    await world.fault({ kind: "unavailable", times: 0 });
    const cycle = { workspace_id: world.workspaceId, mapping_id: contact.id, kind: "poll", slot: null };
    const bodies = [JSON.stringify(cycle), '{"workspace_id":7}'];
    await runCycle({ Records: bodies.map((body, at) => ({ messageId: `m${at}`, body })) } as SQSEvent);
    await call(listMappings, "list-mappings", { token, path });
    await call(listMappings, "list-mappings", { token: "brg_wrong", path });
    await throwing(
      { httpMethod: "GET", path: "/ring/ws_1/ring_secret", resource: "/ring/{workspace_id}/{token}" },
      {} as never,
      {} as never,
    );
  });
}

test("every query of the RUNBOOK finds in a bad night's log what it is for, and all that it asks for is there", async () => {
  const lines = await badNight();
  const failed = lines.find((line) => fieldOf(line, "message.status") === 500);

  expect(QUERIES).toHaveLength(6);
  for (const query of QUERIES) {
    const asked = query
      .replace("ws_…", made.world.workspaceId)
      .replace("req_…", String(fieldOf(failed ?? {}, "message.request_id")));
    const { fields, rows } = runQuery(asked, lines);
    expect(rows.length, asked).toBeGreaterThan(0);
    for (const field of fields)
      expect(
        rows.some((row) => row[field] !== undefined),
        `${field} of ${asked}`,
      ).toBe(true);
  }
});

test("a line has the level of what it says, and no line is text that a query cannot look into", async () => {
  const lines = await badNight();

  expect(lines.filter((line) => typeof line["message"] !== "object")).toEqual([]);
  expect(lines.filter((line) => String(line["level"]).toLowerCase() !== fieldOf(line, "message.level"))).toEqual([]);
  expect(new Set(lines.map(({ level }) => level))).toEqual(new Set(["ERROR", "INFO"]));
});

test("the service writes its log by writeLine alone", () => {
  const files = globSync("{lib,functions}/**/*.ts").filter(
    (file) => !/^lib\/(local|cli|console|infra|docs)\//.test(file),
  );
  const strays = files.filter((file) => /console\s*\.(log|info|warn|error)\(/.test(readFileSync(file, "utf8")));

  expect(files.length).toBeGreaterThan(300);
  expect(strays).toEqual([]);
});

test("every request leaves one line, with who asked where that is known and without a doorbell's secret", async () => {
  const lines = (await badNight()).map(({ message }) => message as Record<string, unknown>);
  const { workspaceId } = made.world;
  const path = "/api/v1/t/{workspace_id}/mappings";
  const requests = lines.filter(({ event }) => event === "request");

  expect(requests.map(({ status, workspace_id, path }) => ({ status, workspace_id, path }))).toEqual([
    { status: 200, workspace_id: workspaceId, path },
    { status: 401, workspace_id: undefined, path },
    { status: 500, workspace_id: undefined, path: "/ring/{workspace_id}/{token}" },
  ]);
  expect(new Set(requests.map(({ request_id }) => request_id)).size).toBe(3);
});

longTest("on one machine, whose log is a file that people read, requests leave none", async () => {
  vi.stubEnv("AWS_LAMBDA_LOG_FORMAT", "");
  const said = vi.spyOn(console, "info").mockReturnValue();

  await call(listMappings, "list-mappings", { token: made.token, path: { workspace_id: made.world.workspaceId } });

  expect(said.mock.calls).toEqual([]);
  said.mockRestore();
});

const fieldOf = (line: Line, path: string): unknown =>
  path.split(".").reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], line);
