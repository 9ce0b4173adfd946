import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type {
  ListMappingStatesData,
  MakeDoorbellData,
  ReadConnectionsData,
  ReadDoorbellData,
  RemoveDoorbellData,
} from "bridge/api";
import { type Context, isSet, text } from "../context.ts";
import { doorbellFiles } from "../doorbell-metadata.ts";
import { CommandFailure } from "../failure.ts";
import { count, labelOf, shortTime } from "../words.ts";

type Bell = ReadDoorbellData["mappings"][number];

/** Shows whether the org's doorbell works, or prepares, replaces or removes it. */
export async function doorbell(context: Context): Promise<void> {
  const folder = text(context, "prepare");
  const wanted = [folder !== null, isSet(context, "rotate") && folder === null, isSet(context, "remove")];
  if (wanted.filter(Boolean).length > 1)
    throw new CommandFailure("usage", "--remove goes alone; --rotate goes alone or with --prepare");
  if (isSet(context, "remove")) return remove(context);
  if (folder !== null) return prepare(context, folder);
  if (isSet(context, "rotate")) return rotate(context);
  const { data } = await context.api().get<ReadDoorbellData>("/doorbell");
  if (data.mappings.some(({ state }) => state === "dead")) context.endAs("unwell");
  if (context.out.json) return context.out.record({ ...data });
  const columns = (["sf_object", "state", "since", "rung_at"] as const).map((name) => ({
    name: labelOf(name).toUpperCase(),
    of: (bell: Bell) => bell[name] ?? "-",
    short: shortTime,
  }));
  context.out.list(data.mappings, columns, "No active mapping pulls; make one with: bridge mapping create");
  context.out.note(remedyOf(data));
}

const SWITCH = "bridge mapping update MAPPING --doorbell on";
const PREPARE = "bridge doorbell --prepare FOLDER --user USERNAME";

/** What to do next. */
export function remedyOf({ created_at, url_outdated, mappings }: ReadDoorbellData): string {
  const is = (state: Bell["state"]) => mappings.filter((bell) => bell.state === state);
  const [dead] = is("dead");
  if (created_at === null) return `There is no doorbell: ${SWITCH}, then ${PREPARE}`;
  if (url_outdated)
    return `An operator has changed the secret of its URL, which rings no more when they end the former one. The org gets the new URL by: ${PREPARE}`;
  if (dead)
    return `Changes of ${dead.sf_object} came without a ring. Check that the flow Bridge Doorbell ${dead.sf_object} is active in the org, that Setup, Outbound Messages lists no undelivered messages, and that Bridge's address (BASE_URL, or the domain of the deployment) works from outside`;
  if (is("waiting").length > 0)
    return `Not rung yet: deploy the metadata that this command writes, then change a record: ${PREPARE}`;
  return is("alive").length > 0
    ? "Deletes do not ring: they arrive within four minutes."
    : `Switch it on with: ${SWITCH}`;
}

async function rotate(context: Context): Promise<void> {
  const { data } = await context.api().post<MakeDoorbellData>("/doorbell", { query: { rotate: "true" } });
  const former = data.former_until === null ? "" : ` The former URL works until ${data.former_until}.`;
  context.out.done(`${data.url}`, data);
  context.out.note(`This URL can only start pulls.${former} To give it to the org: ${PREPARE}`);
}

async function remove(context: Context): Promise<void> {
  const { data } = await context.api().delete<RemoveDoorbellData>("/doorbell");
  context.out.done(
    "The doorbell is gone; all mappings are polled at their full pace. Deactivate its flows in the org.",
    data,
  );
}

/** Writes the metadata of the mappings that are switched on; the folder must be new or empty. */
async function prepare(context: Context, folder: string): Promise<void> {
  const api = context.api();
  const place = resolve(context.terminal.folder, folder);
  if (existsSync(place) && readdirSync(place).length > 0)
    throw new CommandFailure("conflict", `${folder} is not empty: name a new folder`);
  const user = text(context, "user");
  if (user === null)
    throw new CommandFailure(
      "usage",
      "--user is missing: the username of an active user of the org who may read the objects, in whose name it sends the messages",
    );
  const [listening, { data: connections }] = await Promise.all([
    api.get<ListMappingStatesData>("/monitoring/mappings"),
    api.get<ReadConnectionsData>("/connections"),
  ]);
  const objects = listening.data
    .filter(
      ({ active, sf_notify_enabled, sync_direction }) => active && sf_notify_enabled && sync_direction !== "pg_to_sf",
    )
    .map(({ sf_object }) => sf_object);
  if (objects.length === 0)
    throw new CommandFailure("conflict", `no active mapping that pulls is switched on: ${SWITCH}`);
  if (connections.salesforce === null)
    throw new CommandFailure("conflict", "no org is connected; connect one with: bridge connect salesforce");
  const query = isSet(context, "rotate") ? { rotate: "true" } : {};
  const { data } = await api.post<MakeDoorbellData>("/doorbell", { query });
  const files = doorbellFiles({ url: data.url, objects, user, apiVersion: connections.salesforce.api_version });
  for (const [path, content] of files) {
    const file = join(place, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content, { mode: 0o600 });
  }
  context.out.done(
    `${folder} rings for ${objects.join(", ")}. Deploy it with: sf project deploy start --metadata-dir ${folder}`,
    {
      folder: place,
      files: [...files.keys()],
      objects,
      url: data.url,
      former_until: data.former_until,
    },
  );
  context.out.note(
    `The folder holds ${count(objects.length, "flow", "flows")} with the doorbell's URL; keep it as private as a webhook's address. In a production org flows may arrive inactive: activate them in Setup, Flows.`,
  );
}
