import type { AdoptHerokuConnectData, ImportConfigData, TestPostgresData, TestSalesforceData } from "bridge/api";
import type { Context } from "../context.ts";
import { CommandFailure } from "../failure.ts";
import { reportImport } from "./config.ts";
import type { Finding } from "./connect.ts";

/** What a move would do, and what speaks against it. */
export interface Plan {
  readonly connections: readonly Finding[];
  readonly adoption: AdoptHerokuConnectData;
  readonly import: ImportConfigData;
}

/** Asks the service for all of it; changes nothing. */
export async function gatherPlan(context: Context, document: unknown): Promise<Plan> {
  const api = context.api();
  const sides = ["postgres", "salesforce"] as const;
  const looks = await Promise.all(
    sides.map((side) =>
      connected(side, api.post<TestPostgresData | TestSalesforceData>(`/connections/${side}/test`)).then(
        ({ data }) => data.findings,
      ),
    ),
  );
  const adoption = await readAdoption(context);
  const { data: planned } = await api.post<ImportConfigData>("/config/import", {
    body: document,
    query: { dry_run: true },
  });
  return { connections: looks.flat(), adoption, import: planned };
}

/** What Heroku Connect still has. */
export async function readAdoption(context: Context): Promise<AdoptHerokuConnectData> {
  const path = "/connections/postgres/adopt-heroku-connect";
  return (await context.api().post<AdoptHerokuConnectData>(path, { query: { dry_run: true } })).data;
}

async function connected<Answer>(side: string, asked: Promise<Answer>): Promise<Answer> {
  try {
    return await asked;
  } catch (error) {
    if (!(error instanceof CommandFailure) || error.kind !== "conflict") throw error;
    throw new CommandFailure("conflict", `${error.message}: bridge connect ${side}`, { cause: error });
  }
}

/** What an operator may decide to live with. */
const WARNINGS = new Set(["paused", "readers", "dependents", "connections"]);

/** Whether nothing necessary is missing. */
export const isReady = ({ connections, adoption }: Plan): boolean =>
  [...connections, ...adoption.findings].every(({ ok, check }) => ok || WARNINGS.has(check));

/** The plan for people. */
export function reportPlan(context: Context, plan: Plan): void {
  const { out } = context;
  for (const found of [...plan.connections, ...plan.adoption.findings]) out.done(findingText(context, found), null);
  out.done("", null);
  reportImport(context, plan.import, true);
  out.done("", null);
  out.list(
    plan.adoption.tables,
    [
      { name: "TABLE", of: ({ table }) => table, whole: true },
      { name: "ROWS", of: ({ rows }) => `~${rows}`, right: true },
      { name: "NEW", of: ({ changes }) => changes.new, right: true },
      { name: "IN DOUBT", of: ({ changes }) => changes.pending, right: true },
      { name: "FAILED", of: ({ changes }) => changes.failed, right: true },
    ],
    "No table is captured by Heroku Connect any more.",
  );
  for (const table of plan.adoption.tables) out.done(tableText(table), null);
  for (const line of WHAT_HAPPENS) out.note(line);
}

/** What is dropped and what stays, a line each. */
function tableText({
  table,
  triggers,
  kept_types: types,
}: AdoptHerokuConnectData["tables"][number]): readonly string[] {
  const kept = types.map(({ column, type }) => `${column} (${type})`).join(", ");
  return [table, `  drops  ${triggers.join(", ")}`, ...(kept === "" ? [] : [`  keeps  ${kept}`])];
}

const WHAT_HAPPENS = [
  "Rows are neither read again nor rewritten. Changes that are NEW are sent, PENDING ones",
  "are looked up in Salesforce first, FAILED ones wait for a retry.",
];

function findingText({ out }: Context, { ok, check, message, remedy }: Finding): readonly string[] {
  const mark = ok ? out.paint("green", "✓") : WARNINGS.has(check) ? out.paint("yellow", "!") : out.paint("red", "✗");
  return [`${mark} ${message}`, ...(ok || remedy === null ? [] : [`    ${remedy}`])];
}
