import type {
  AbortPollData,
  CreateMappingData,
  NudgeData,
  PushExistingData,
  ReadBudgetData,
  ReadMappingData,
  UpdateMappingData,
} from "bridge/api";
import { argument, type Context, isSet, type Typed, text, type Work, wholeNumber, words } from "../../context.ts";
import { CommandFailure } from "../../failure.ts";
import { namedMapping } from "../../find.ts";
import { confirmUnlessYes } from "../../secret.ts";
import { count } from "../../words.ts";
import { suggestObject } from "../objects.ts";

/** Ties an object to a table. */
export async function createMapping(context: Context): Promise<void> {
  const fields = words(context, "fields");
  if (fields === null) {
    throw new CommandFailure("usage", "name the fields: --fields LastName,Email (bridge objects OBJECT lists them)");
  }
  const [api, object] = [context.api(), argument(context, 0)];
  const body = {
    sf_object: object,
    ...settingsIn(context),
    ...(text(context, "table") === null ? {} : { pg_table: text(context, "table") }),
    ...(isSet(context, "inactive") ? { active: false } : {}),
  };
  const { data } = await api.post<CreateMappingData>("/mappings", { body }).catch(suggestObject(api, object));
  for (const { message } of data.warnings ?? []) context.out.note(message);
  context.out.done(
    `${data.sf_object} is tied to table ${data.pg_table} (${data.id}): ${data.calls_per_day} API calls a day while nothing changes. ` +
      `Follow its first load with: bridge mapping show ${data.sf_object} --wait`,
    data,
  );
}

/** Changes what was given; refused when the mapping was changed in between. */
export async function updateMapping(context: Context): Promise<void> {
  const { api, path, id } = await namedMapping(context);
  const { data: current, etag } = await api.get<ReadMappingData>(path);
  const body = { ...settingsIn(context), ...fieldsIn(context, current.fields) };
  if (Object.keys(body).length === 0) throw new CommandFailure("usage", "nothing to change was given");
  await reportCost(context, id, { ...current, ...body });
  const { data } = await api.patch<UpdateMappingData>(path, { body, ifMatch: etag });
  context.out.done(`${data.sf_object} is changed; its state is ${data.state}.`, data);
}

/** Says that a change will cost more of the org's calls, before it is saved. */
async function reportCost(context: Context, id: string, then: Omit<ReadMappingData, "fields">): Promise<void> {
  const { filter, calls_per_day: now } = then;
  const { sf_polling_seconds, when_quiet_seconds = null, sync_direction, sf_notify_enabled } = then;
  const settings = { sf_polling_seconds, when_quiet_seconds, sync_direction, sf_notify_enabled };
  const asked = { mapping_id: id, ...settings, filtered: filter !== null };
  if (now === 0) return; // it is paused, or never pulls
  const { data } = await context
    .api()
    .get<Pick<ReadBudgetData, "with_mapping">>("/monitoring/budget", asked)
    .catch(() => ({ data: { with_mapping: null } })); // the change itself says what is wrong with it
  const cost = data.with_mapping?.own_calls_per_day ?? 0;
  if (cost > now)
    context.out.note(
      `That costs ${cost} of the org's API calls a day while nothing changes, ${cost - now} more than now.`,
    );
}

/** What each action has come to. */
const DONE = {
  activate: "is active.",
  deactivate: "is paused; changes of its rows are still captured.",
  reload: "is read again from the beginning. Follow it with: bridge mapping show OBJECT --wait",
  compare: "is compared with Salesforce now. What was found: bridge mapping show OBJECT",
  restore: "is restored and paused. Begin again with: bridge mapping activate OBJECT",
};

/** `activate`, `deactivate`, `reload`, `compare`, `restore`. */
export function actOnMapping(action: keyof typeof DONE): Work {
  return async (context) => {
    const { api, path, sf_object } = await namedMapping(context, action === "restore");
    const query = action === "activate" ? { digest: text(context, "digest") } : {};
    const { data } = await api.post(`${path}/${action}`, { query });
    context.out.done(`${sf_object} ${DONE[action].replace("OBJECT", sf_object)}`, data);
  };
}

/** Pushes the rows without a record, with as many calls as it takes. */
export async function pushExisting(context: Context): Promise<void> {
  const { out } = context;
  const { api, path, id, sf_object } = await namedMapping(context);
  let queued = 0;
  for (let more = true; more; ) {
    const { data } = await api.post<PushExistingData>(`${path}/push-existing`);
    queued += data.queued;
    more = data.more;
    out.progress(count(queued, "row", "rows"));
  }
  out.progress("");
  const sentence =
    queued === 0
      ? "has no rows without a record in Salesforce"
      : `sends ${count(queued, "row that has", "rows that have")} no record in Salesforce yet`;
  out.done(`${sf_object} ${sentence}.`, { queued, mapping_id: id });
}

/** Ends a mapping. */
export async function deleteMapping(context: Context): Promise<void> {
  const { api, path, sf_object, pg_table } = await namedMapping(context);
  await confirmUnlessYes(context, `End the mapping of ${sf_object}? Table ${pg_table} and its rows stay.`);
  const { data } = await api.delete(path);
  context.out.done(`${sf_object} is ended; take it up again with: bridge mapping restore ${sf_object}`, data);
}

/** Has what was committed sent now. */
export async function nudge(context: Context): Promise<void> {
  const [table] = context.args;
  const query = table === undefined ? {} : { table };
  const { data } = await context.api().post<NudgeData>("/nudge", { query });
  context.out.done(`${count(data.mappings, "mapping sends its", "mappings send their")} waiting changes.`, data);
}

/** Asks the running cycle to stop. */
export async function abortPoll(context: Context): Promise<void> {
  const { api, path, sf_object } = await namedMapping(context);
  const { data } = await api.post<AbortPollData>(`${path}/abort`);
  const sentence = data.aborted ? "stops at its next batch" : "has no cycle running";
  context.out.done(`${sf_object} ${sentence}.`, data);
}

function settingsIn(typed: Typed): Readonly<Record<string, unknown>> {
  const given = {
    fields: words(typed, "fields"),
    sync_direction: text(typed, "direction"),
    sf_polling_seconds: wholeNumber(typed, "interval"),
    sf_notify_enabled: switched(text(typed, "doorbell")),
    conflict_policy: text(typed, "policy"),
    capture: text(typed, "capture"),
    delete_limit: text(typed, "deleteLimit"),
    sweep_days: wholeNumber(typed, "sweepDays"),
    check_before_save: text(typed, "checkBeforeSave"),
    keep_history: switched(text(typed, "keepHistory")),
    batch_size: wholeNumber(typed, "batchSize"),
  };
  const said = Object.entries(given).filter(([, value]) => value !== null);
  return {
    ...Object.fromEntries(said),
    ...takenAway(typed, "upsert_field", "upsertField"),
    ...takenAway(typed, "filter"),
    ...takenAway(typed, "when_quiet_seconds", "whenQuiet", wholeNumber),
  };
}

/** Anything else than on and off is left for the service to refuse. */
const switched = (given: string | null) => (given === "on" ? true : given === "off" ? false : given);

/** A setting that an empty text takes away. */
function takenAway(
  typed: Typed,
  setting: string,
  option = setting,
  read: (typed: Typed, option: string) => string | number | null = text,
): Readonly<Record<string, string | number | null>> {
  const value = text(typed, option);
  return value === null ? {} : { [setting]: value === "" ? null : read(typed, option) };
}

function fieldsIn(typed: Typed, current: readonly string[]): { readonly fields?: readonly string[] } {
  const [added, removed] = [words(typed, "addField") ?? [], words(typed, "removeField") ?? []];
  if (added.length === 0 && removed.length === 0) return {};
  const gone = new Set(removed.map((field) => field.toLowerCase()));
  const base = words(typed, "fields") ?? current;
  return { fields: [...new Set([...base.filter((field) => !gone.has(field.toLowerCase())), ...added])] };
}
