import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { CommandFailure } from "../../../lib/cli/failure.ts";
import type { Machine } from "../../../lib/cli/operator.ts";
import { programOf, runBridge } from "../../../lib/cli/program.ts";
import { examplesOf } from "../../../lib/cli/tree/examples.ts";
import { commandsOf, silent } from "../../cli/every-command.ts";
import {
  EVIL,
  type HostileService,
  hostile,
  startHostileService,
  steeringIn,
} from "../../support/doubles/hostile-service.ts";
import { HANG_MILLISECONDS, inTime, type Part } from "./world.ts";

/** Commands that end by Ctrl-C alone; it is pressed as soon as they have said something. */
const ENDLESS = /--follow|--watch|^webhook listen|^org |^connect salesforce --client-id/;

/** What a pipe gets of these is a file's content, as it is. */
const FILES = /^types|^schema propose|--csv/;

/** Every way in which people and programs look at a command's output. */
const LOOKS = [
  { columns: 80, more: [] },
  { columns: 20, more: ["--no-color"] },
  { columns: undefined, more: [] },
  { columns: 80, more: ["--json"] },
  { columns: undefined, more: ["--json"] },
] as const;

/** Every command by its own examples, at a service, an org, a database and an operator whose every word is hostile. */
export const terminal: Part = async ({ bridge, doors }) => {
  const folder = mkdtempSync(join(tmpdir(), "bridge-terminal-"));
  const service = await startHostileService();
  const findings: string[] = [];
  let tried = 0;
  try {
    writeInstance(folder, service, bridge.database.url);
    for (const { refuses, typed, columns } of looksAt(typedCommands(folder))) {
      service.refuses = refuses;
      const said = await inTime(type(typed, folder, service, columns), HANG_MILLISECONDS);
      const texts = typeof said === "string" ? [] : [said.out, said.err];
      if (texts.some((text) => text.includes("EVIL"))) tried += 1;
      const wrong = typeof said === "string" ? [said] : texts.map((text) => steeringIn(doors.show(text)));
      const name = `bridge ${typed.join(" ").replaceAll(folder, "")}${refuses ? ", refused" : ""}`;
      findings.push(...wrong.filter((one) => one !== null).map((one) => `${name}: ${one}`));
    }
  } finally {
    service.close();
    rmSync(folder, { recursive: true, force: true });
  }
  return { tried, findings };
};

/** Every command in every form of output, answered and refused. */
const looksAt = (commands: readonly (readonly string[])[]) =>
  [false, true].flatMap((refuses) =>
    commands.flatMap((words) =>
      LOOKS.filter(({ columns }) => columns !== undefined || !FILES.test(words.join(" "))).map(({ columns, more }) => ({
        ...{ refuses, columns },
        typed: [...words, ...more],
      })),
    ),
  );

/** What is typed: the examples of the help, and statements whose answers and refusals are hostile. */
function typedCommands(folder: string): readonly (readonly string[])[] {
  const examples = commandsOf(programOf(() => async () => undefined, silent))
    .filter((name) => !["sql", "open", "completion", "complete"].includes(name)) // a browser would start, and shells read the last two
    .flatMap((name) => examplesOf(name))
    .filter((line) => line.startsWith("bridge "))
    .map((line) => wordsOf(line.replace(/^bridge | [<>|] ?\S+$/g, ""), folder));
  const literal = `convert_from(decode('${Buffer.from(EVIL.replaceAll("\0", "")).toString("hex")}', 'hex'), 'UTF8')`;
  return [
    ...examples,
    ["open", "errors", "--print"],
    [
      "sql",
      `SELECT ${literal} AS text, ARRAY[${literal}] AS list, jsonb_build_object('a', ${literal}) AS json; SELECT 1`,
    ],
    ["sql", `DO $$ BEGIN RAISE '%', ${literal}; END $$`],
    ["sql", `SELECT 1 AS "${EVIL.replaceAll("\0", "").slice(0, 30)}"`],
  ];
}

/** A line's words; mappings go by their id, for their names are hostile, and files are in the folder. */
function wordsOf(line: string, folder: string): readonly string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => {
    const one = quoted ?? word ?? "";
    return /^[a-z]+\.(json|txt)$|^(drizzle|doorbell)$/.test(one) && word !== undefined ? join(folder, one) : one;
  });
}

function writeInstance(folder: string, { url }: HostileService, databaseUrl: string): void {
  const salesforce = { url, access_token: "none", client_secret: "none" };
  const file = { base_url: url, workspace_id: "ws_1", api_token: "brg_x", database_url: databaseUrl, salesforce };
  writeFileSync(join(folder, "instance.json"), JSON.stringify(file));
  writeFileSync(join(folder, "demo-writer.json"), '{"left":1}');
  for (const name of ["url", "token", "secret"])
    writeFileSync(join(folder, `${name}.txt`), "postgres://user@host/name");
  for (const name of ["mappings", "export"]) writeFileSync(join(folder, `${name}.json`), '{"version":1,"mappings":[]}');
}

interface Said {
  readonly out: string;
  readonly err: string;
}

async function type(
  typed: readonly string[],
  folder: string,
  service: HostileService,
  columns: number | undefined,
): Promise<Said> {
  const said = { out: "", err: "" };
  const stop = new AbortController();
  const sink = (name: keyof Said) => ({
    write: (text: string) => {
      said[name] += text;
      if (ENDLESS.test(typed.join(" "))) setImmediate(() => stop.abort());
    },
    ...(columns !== undefined && { isTTY: true, columns }),
  });
  const terminal = {
    stdin: Readable.from(["postgres://user@host/name\n"]),
    stdout: sink("out"),
    stderr: sink("err"),
    env: { HOME: folder, PATH: folder, BRIDGE_DATA_DIR: folder },
    folder,
    interrupted: stop.signal,
  };
  await runBridge(typed, terminal, machineOf(service));
  return said;
}

/** An operator and an org of this machine whose every answer is hostile. */
function machineOf(service: HostileService): Machine {
  const answer = async <Answer>(data: Answer): Promise<Answer> => {
    if (service.refuses) throw new CommandFailure("conflict", EVIL, { details: [{ path: EVIL, message: EVIL }] });
    return hostile(data) as Answer;
  };
  const at = "2026-11-20T12:00:00.000Z";
  const one = { id: "ws_1", name: "Acme", connected: true, pause: { since: at, by: "ada", reason: "why" } };
  const kept = { broken: [{ since: at, reason: "why" }], waiting: 1, oldest_waiting_at: at, counted_at: at };
  const former = { id: "tok_1", name: "ci", owner: "ada", workspace_id: "ws_1", last_used_at: at };
  return {
    openOperator: async () => ({
      createWorkspace: () => answer({ workspaceId: "ws_1", token: "brg" }),
      createToken: () => answer({ workspaceId: "ws_1", token: "brg" }),
      listWorkspaces: () => answer([{ ...one, ...kept, rows_refused: 1, calls_used: 1, calls_limit: 2, calls_at: at }]),
      switchPause: () => answer({ paused: true, at, by: "ada", reason: "why" }),
      rotatePepper: () => answer({ used_from: at }),
      findFormer: () => answer({ tokens: [former], doorbells: [{ workspace_id: "ws_1", created_at: at }] }),
      endFormer: () => answer({ tokens_revoked: 1 }),
      reseal: () => answer({ resealed: 1, remaining: [{ workspace_id: "ws_1", kind: "pepper", reason: "why" }] }),
      describeRemoval: () => answer({ name: "Acme", isGone: false, mappings: 1, webhooks: 1, tokens: 1, waiting: 1 }),
      removeWorkspace: () =>
        answer({ name: "Acme", cleared: { schema: "s", triggers: ["t"], functions: ["f"], tables: ["t"], kept: [] } }),
    }),
    startOrg: async () => {
      const close = async () => undefined;
      const org = { url: "http://127.0.0.1", username: "u", password: "p", accessToken: "a", clientId: "c" };
      return { ...(await answer(org)), clientSecret: "s", certificate: null, close };
    },
  };
}
