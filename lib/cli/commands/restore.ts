import type { AcceptRestoreData, BeginRestoreData, ReadRestorePlanData } from "bridge/api";
import { type Context, text, words } from "../context.ts";
import { CommandFailure } from "../failure.ts";
import { namedMapping } from "../find.ts";
import { confirmUnlessYes } from "../secret.ts";
import { count } from "../words.ts";

/** What waits for a person after a restore. */
export async function restorePlan({ api, out, endAs }: Context): Promise<void> {
  const { data } = await api().get<ReadRestorePlanData>("/restore");
  const { mappings, pause } = data;
  const waits = mappings.filter(({ state, groups }) => state !== "in_step" || groups.length > 0);
  if (waits.length > 0) endAs("unwell");
  if (out.json) return out.done("", data);
  if (pause !== null) out.note(`Perhaps as at the time of the backup, ${pause}.`);
  if (waits.length === 0) return out.done("Every mapping is in step; nothing waits since a restore.", data);
  for (const mapping of waits) {
    out.done(`${mapping.sf_object}: ${mapping.state}${mapping.since === null ? "" : ` since ${mapping.since}`}`, null);
    for (const { setting, database, here } of mapping.changed_since)
      out.done(`  ${setting} is ${database || "empty"} in the database, ${here || "empty"} in DynamoDB`, null);
    out.list(
      mapping.groups.flatMap(({ group, means, rows, decision, samples }) => [
        { group: group ?? "waiting", rows: String(rows), what: means, by: decision },
        ...samples.map((one) => ({ group: "", rows: "", what: `row ${one.record_id}: ${one.message ?? ""}`, by: "" })),
      ]),
      [
        { name: "GROUP", of: ({ group }) => group, whole: true },
        { name: "ROWS", of: ({ rows }) => rows, right: true, whole: true },
        { name: "WHAT", of: ({ what }) => what },
        { name: "DECIDED AS", of: ({ by }) => by, whole: true },
      ],
      "  No change waits.",
    );
  }
  if (mappings.some(({ state }) => state === "config_behind")) {
    out.note("If DynamoDB was restored, these are as they were at that time. End those that were ended since:");
    for (const one of data.tokens)
      out.note(
        `  token ${one.name} of ${one.owner}, created ${one.created_at}, last used ${one.last_used_at ?? "never"}`,
      );
    for (const one of data.webhooks) out.note(`  webhook ${one.id} ${one.description}, created ${one.created_at}`);
  }
  out.note("Accept it with: bridge restore accept <mapping>; decide otherwise with its options.");
}

/** Says that both sides were restored to one time. */
export async function beginRestore(context: Context): Promise<void> {
  await confirmUnlessYes(context, "Hold the waiting changes of every mapping until its restore is accepted?");
  const { data } = await context.api().post<BeginRestoreData>("/restore");
  const mappings = count(data.mapping_ids.length, "mapping sends", "mappings send");
  context.out.done(
    `${mappings} nothing until its restore is accepted. See the waiting changes with: bridge restore plan`,
    data,
  );
}

/** Decides what waits of a mapping, and has it send again. */
export async function acceptRestore(context: Context): Promise<void> {
  const { api, path, sf_object } = await namedMapping(context);
  const groups = Object.fromEntries(
    ["newer", "only-here", "proposed", "unclear"].flatMap((name) => {
      const decision = text(context, name.replace(/-h/, "H"));
      return decision === null ? [] : [[name.replace("-", "_"), decision]];
    }),
  );
  const rows = (words(context, "row") ?? []).map((word) => {
    const [key = "", decision] = word.split("=");
    if (!/^\d+$/.test(key) || !decision) throw new CommandFailure("invalid", `--row is KEY=DECISION, not "${word}"`);
    return { record_id: Number(key), decision };
  });
  await confirmUnlessYes(context, `Decide about the waiting changes of ${sf_object}, and let it send again?`);
  const { data } = await api.post<AcceptRestoreData>(`${path}/accept-restore`, { body: { ...groups, rows } });
  context.out.done(
    `${sf_object} sends again; ${count(data.decided, "restored row is", "restored rows are")} decided.`,
    data,
  );
}
