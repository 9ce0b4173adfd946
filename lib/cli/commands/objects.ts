import type { ListObjectsData, ReadObjectData } from "bridge/api";
import { didYouMean } from "../../model/nearest.ts";
import type { Api } from "../api.ts";
import { type Context, isSet, segment, text } from "../context.ts";
import { CommandFailure } from "../failure.ts";

/** Objects of the org, or the fields of one. */
export async function objects(context: Context): Promise<void> {
  const [object] = context.args;
  return object === undefined ? listObjects(context) : listFields(context, object);
}

async function listObjects(context: Context): Promise<void> {
  const { data } = await context.api().get<ListObjectsData>("/objects");
  context.out.list(
    found(data, context),
    [
      { name: "NAME", of: ({ name }) => name },
      { name: "LABEL", of: ({ label }) => label },
      { name: "WRITE", of: ({ createable }) => (createable ? "yes" : "no") },
    ],
    "No object of the org matches.",
  );
}

async function listFields(context: Context, object: string): Promise<void> {
  const parents = isSet(context, "parents") || null;
  const path = `/objects/${segment(object)}`;
  const api = context.api();
  const { data } = await api.get<ReadObjectData>(path, { parents }).catch(suggestObject(api, object));
  if (context.out.json) return context.out.record({ ...data, fields: found(data.fields, context) });
  context.out.list(
    found(data.fields.flatMap(withParentKeys), context),
    [
      { name: "NAME", of: ({ name }) => name, whole: true },
      { name: "TYPE", of: ({ type }) => type },
      { name: "LABEL", of: ({ label }) => label, spare: true },
      { name: "", of: ({ note }) => note },
    ],
    "No field of the object matches.",
  );
}

/** Adds to a refusal of an object that the org does not have the one that may have been meant. */
export const suggestObject = (api: Api, object: string) => async (error: unknown) => {
  if (!(error instanceof CommandFailure)) throw error;
  const isUnknown = error.kind === "notFound" || /\bsf_object: is no object/.test(error.message);
  if (!isUnknown) throw error;
  const { data } = await api.get<ListObjectsData>("/objects").catch(() => ({ data: [] as ListObjectsData }));
  const meant = didYouMean(
    object,
    data.map(({ name }) => name),
  );
  const { kind, message, code, details, help } = error;
  throw new CommandFailure(kind, `${message}${meant}`, { ...(code && { code }), details, ...(help && { help }) });
};

interface Line {
  readonly name: string;
  readonly label: string;
  readonly type: string;
  readonly note: string;
}

/** A field, and below it the fields that name its parent by an external id. */
function withParentKeys(field: ReadObjectData["fields"][number]): readonly Line[] {
  const { name, label, type, length, parent_keys } = field;
  const own = { name, label, type: length > 0 ? `${type}(${length})` : type, note: noteOf(field) };
  const keys = parent_keys.map((key) => ({ ...key, type: "parent key", note: `names the parent of ${name}` }));
  return [own, ...keys];
}

function noteOf({
  required,
  external_id,
  calculated,
  mappable,
  reference_to,
}: ReadObjectData["fields"][number]): string {
  return [
    reference_to.length > 0 ? `→ ${reference_to.slice(0, 3).join(", ")}${reference_to.length > 3 ? ", …" : ""}` : "",
    mappable ? "" : "cannot be mapped",
    required ? "required" : "",
    external_id ? "external id" : "",
    calculated ? "formula" : "",
  ]
    .filter(Boolean)
    .join(", ");
}

function found<Thing extends { readonly name: string; readonly label: string }>(
  things: readonly Thing[],
  context: Context,
): readonly Thing[] {
  const wanted = text(context, "search")?.toLowerCase() ?? "";
  return things.filter(({ name, label }) => `${name} ${label}`.toLowerCase().includes(wanted));
}
