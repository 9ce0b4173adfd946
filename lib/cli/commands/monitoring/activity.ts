import { setTimeout as pause } from "node:timers/promises";
import type { ListActivityData } from "bridge/api";
import { type Context, isSet, pageIn, text, wholeNumber } from "../../context.ts";
import type { Column } from "../../table.ts";
import { harmless } from "../../width.ts";
import { shortTime } from "../../words.ts";

/** How often `--follow` looks for new changes: 30 of the 300 requests that a minute has. */
const FOLLOW_MILLISECONDS = 2000;

/** The largest page that the service gives. */
const PAGE = 200;

/** Changes that `--follow` begins with. */
const FIRST = 10;

/** Changes of rows and their results. */
export async function activity(context: Context): Promise<void> {
  if (isSet(context, "follow")) return follow(context);
  const page = pageIn(context);
  const { data, meta } = await context
    .api()
    .get<readonly ListActivityData[]>("/monitoring/activity", { ...filter(context), ...page });
  context.out.list(data, columns(context), "No changes yet. Insert a row into a mapped table and look again.");
  if (meta && data.length < meta.total && !context.out.json)
    context.out.note(`${data.length} of ${meta.total} changes`);
}

/** Prints each change when it appears and whenever its state changes, until Ctrl-C. */
async function follow(context: Context): Promise<void> {
  const { out, terminal } = context;
  const api = context.api();
  let seen: ReadonlyMap<number, string> | null = null;
  while (!terminal.interrupted.aborted) {
    const { data } = await api.get<readonly ListActivityData[]>("/monitoring/activity", {
      ...filter(context),
      limit: PAGE,
    });
    const known = seen;
    const news: readonly ListActivityData[] =
      known === null
        ? data.slice(0, wholeNumber(context, "limit") ?? FIRST)
        : data.filter(({ id, state }) => known.get(id) !== state);
    for (const change of news.toReversed()) out.line(lineOf(context, change), change);
    seen = new Map(data.map(({ id, state }) => [id, state]));
    await pause(FOLLOW_MILLISECONDS, undefined, { signal: terminal.interrupted });
  }
}

const filter = (context: Context) => ({
  state: text(context, "state"),
  table: text(context, "table"),
  sfid: text(context, "sfid"),
  row: wholeNumber(context, "row"),
  key: text(context, "key"),
});

function columns(context: Context): readonly Column<ListActivityData>[] {
  return [
    { name: "ID", of: ({ id }) => id, right: true, whole: true },
    { name: "AT", of: ({ created_at }) => created_at, short: shortTime },
    { name: "TABLE", of: ({ table_name }) => table_name },
    { name: "ACTION", of: ({ action }) => action },
    { name: "STATE", of: ({ state }) => state, paint: (cell, { state }) => paintState(context, cell, state) },
    { name: "RECORD", of: ({ sfid }) => sfid, whole: true },
    { name: "SYNCED", of: ({ synced_at }) => synced_at, short: shortTime, spare: true },
  ];
}

function lineOf(context: Context, { id, created_at, table_name, action, state, sfid }: ListActivityData): string {
  const place = harmless(table_name).padEnd(16);
  const what = `${action.padEnd(6)} ${paintState(context, state.padEnd(7), state)}`;
  return `${created_at}  ${String(id).padStart(8)}  ${place} ${what} ${sfid ?? ""}`.trimEnd();
}

function paintState({ out }: Context, cell: string, state: string): string {
  return out.paint(state === "SUCCESS" ? "green" : state === "FAILED" ? "red" : "yellow", cell);
}
