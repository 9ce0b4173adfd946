import { type Context, segment, text } from "../context.ts";

interface OrgObject {
  readonly name: string;
  readonly label: string;
  readonly queryable: boolean;
  readonly createable: boolean;
}

interface OrgField {
  readonly name: string;
  readonly label: string;
  readonly type: string;
  readonly length: number;
  readonly required: boolean;
  readonly external_id: boolean;
  readonly calculated: boolean;
  readonly mappable: boolean;
}

/** Objects of the org, or the fields of one. */
export async function objects(context: Context): Promise<void> {
  const [object] = context.args;
  return object === undefined ? listObjects(context) : listFields(context, object);
}

async function listObjects(context: Context): Promise<void> {
  const { data } = await context.api().get<readonly OrgObject[]>("/objects");
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
  const { data } = await context.api().get<{ readonly fields: readonly OrgField[] }>(`/objects/${segment(object)}`);
  if (context.out.json) return context.out.record({ ...data, fields: found(data.fields, context) });
  context.out.list(
    found(data.fields, context),
    [
      { name: "NAME", of: ({ name }) => name },
      { name: "TYPE", of: ({ type, length }) => (length > 0 ? `${type}(${length})` : type) },
      { name: "LABEL", of: ({ label }) => label },
      { name: "", of: noteOf },
    ],
    "No field of the object matches.",
  );
}

function noteOf({ required, external_id, calculated, mappable }: OrgField): string {
  return [
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
