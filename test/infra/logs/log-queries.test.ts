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

test("every query of the RUNBOOK finds in a bad night's log what it is for, in lines that have their level and one of each request", async () => {
  const lines = await badNight();
  const { workspaceId } = made.world;
  const failed = lines.find((line) => fieldOf(line, "message.status") === 500);

  expect(QUERIES).toHaveLength(6);
  for (const query of QUERIES) {
    const id = String(fieldOf(failed ?? {}, "message.request_id"));
    const asked = query.replace("ws_…", workspaceId).replace("req_…", id);
    const { fields, rows } = runQuery(asked, lines);
    expect(rows.length, asked).toBeGreaterThan(0);
    const missing = fields.filter((field) => rows.every((row) => row[field] === undefined));
    expect(missing, asked).toEqual([]);
  }
  expect(lines.filter((line) => typeof line["message"] !== "object")).toEqual([]);
  expect(lines.filter((line) => String(line["level"]).toLowerCase() !== fieldOf(line, "message.level"))).toEqual([]);
  expect(new Set(lines.map(({ level }) => level))).toEqual(new Set(["ERROR", "INFO"]));

  const requests = lines.filter((line) => fieldOf(line, "message.event") === "request");
  const path = "/api/v1/t/{workspace_id}/mappings";
  expect(requests.map(({ message }) => message)).toMatchObject([
    { status: 200, workspace_id: workspaceId, path },
    { status: 401, path },
    { status: 500, path: "/ring/{workspace_id}/{token}" }, // without the doorbell's secret
  ]);
  for (const refused of requests.slice(1)) expect(fieldOf(refused, "message.workspace_id")).toBeUndefined();
  expect(new Set(requests.map((line) => fieldOf(line, "message.request_id"))).size).toBe(3);
});

test("the service writes its log by writeLine alone", () => {
  const files = globSync("{lib,functions}/**/*.ts").filter(
    (file) => !/^lib\/(local|cli|console|infra|docs)\//.test(file),
  );
  const strays = files.filter((file) => /console\s*\.(log|info|warn|error)\(/.test(readFileSync(file, "utf8")));

  expect(files.length).toBeGreaterThan(300);
  expect(strays).toEqual([]);
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
