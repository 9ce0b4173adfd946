import { setTimeout as pause } from "node:timers/promises";
import type { ReadConnectionsData, ReadMappingData } from "bridge/api";
import { Api } from "../api.ts";
import { type Context, text } from "../context.ts";
import { CommandFailure } from "../failure.ts";
import { type MappingState, NEEDS_SOMEBODY } from "../find.ts";
import { readSecret } from "../secret.ts";
import { type Document, type Moved, mappingsOf, move, reportMove, untilSettled } from "./move.ts";
import { operatorOf } from "./workspaces.ts";

/**
 * Carries a whole move out on a copy of the database, in a workspace of its own that is removed at the end. Its
 * mappings are inactive while their tables are taken over; then they read, so that both sides are compared. At no time
 * does one send.
 */
export async function rehearse(context: Context, document: Document): Promise<void> {
  const here = context.target();
  const { postgres } = (await context.api().get<ReadConnectionsData>("/connections")).data;
  const url = await readSecret(context.terminal, "URL of the copy", text(context, "databaseUrlFile"));
  const copy = URL.parse(url);
  if (copy && copy.hostname === postgres?.host && copy.pathname === `/${postgres.database}`) {
    throw new CommandFailure("usage", "this is the database that the workspace is connected to: name a copy of it");
  }
  const operator = await operatorOf(context);
  const asked = { name: "Rehearsal", owner: "rehearsal@localhost", withOrgOf: here.workspaceId };
  const { workspaceId, token } = await operator.createWorkspace(asked);
  context.out.note(`The workspace ${workspaceId} is for the rehearsal and goes at its end.`);
  const there = { ...context, api: () => new Api({ ...here, workspaceId, token }, context.terminal.interrupted) };
  try {
    await there.api().put("/connections/postgres", { body: { url, ...(postgres && { schema: postgres.schema }) } });
    const question = `Take the copy ${copy?.hostname}${copy?.pathname} over now? It is changed, and Salesforce is only read.`;
    const moved = await move(there, document, question, withSettings(document, { active: false }));
    const mappings = await compared(there, document, moved.mappings);
    reportMove(there, { ...moved, mappings });
    for (const line of decisions({ ...moved, mappings })) context.out.note(line);
  } finally {
    await operator.removeWorkspace({ workspaceId, actor: "rehearsal@localhost", leaveDatabase: false });
  }
}

const withSettings = (document: Document, bridge: object, config: object = {}): Document => ({
  ...document,
  mappings: document.mappings.map((one) => ({
    ...one,
    config: { ...one.config, ...config, bridge: { ...one.config?.bridge, ...bridge } },
  })),
});

/** Mappings that are looked at each time, for the API takes 300 requests a minute. */
const AT_ONCE = 8;

/** The mappings as they were, with what a comparison of both sides found. */
async function compared(
  context: Context,
  document: Document,
  before: readonly MappingState[],
): Promise<readonly MappingState[]> {
  const api = context.api();
  const reading = withSettings(document, { active: true, sync_direction: "sf_to_pg" }, { access: "read_only" });
  await api.post("/config/import", { body: reading });
  await untilSettled(context, reading);
  for (;;) {
    const now = await mappingsOf(context, reading);
    const open = now.filter(({ compared, state }) => compared === null && !NEEDS_SOMEBODY.has(state));
    context.out.progress(open.length === 0 ? "" : `${open.length} of ${now.length} mappings are still compared`);
    if (open.length === 0) {
      const found = new Map(now.map(({ id, compared }) => [id, compared]));
      return before.map((one) => ({ ...one, compared: found.get(one.id) ?? null }));
    }
    for (const { id } of open.slice(0, AT_ONCE)) {
      // One that reads already would not begin a comparison.
      const { progress } = (await api.get<ReadMappingData>(`/mappings/${id}`)).data;
      if (progress === null) await api.post(`/mappings/${id}/compare`);
    }
    await pause(5000, undefined, { signal: context.terminal.interrupted });
  }
}

/** What a person decides before the day. */
function decisions({ plan, mappings }: Moved): readonly string[] {
  const { tables, findings } = plan.adoption;
  const sum = (of: (table: (typeof tables)[number]) => number) => tables.reduce((all, table) => all + of(table), 0);
  const differing = mappings.reduce((all, { compared }) => all + (compared?.differing ?? 0), 0);
  const cases: readonly (readonly [number, string])[] = [
    [findings.filter(({ ok }) => !ok).length, "of the checks above: those marked !"],
    [plan.import.warnings?.length ?? 0, "of the import's warnings above"],
    [sum(({ changes }) => changes.failed), "changes that Heroku Connect could not send: retry or dismiss them"],
    [sum(({ changes }) => changes.pending), "changes in doubt: pause when Heroku Connect is idle, and there are none"],
    [
      differing,
      "records whose row differs or is missing: Salesforce's values win, unless conflict_policy says otherwise",
    ],
  ];
  const open = cases.filter(([number]) => number > 0).map(([number, what]) => `  ${number} ${what}`);
  return open.length === 0 ? ["There is nothing to decide."] : ["To decide before the day:", ...open];
}
