import { argument, type Context, segment } from "../../context.ts";
import { findMapping } from "../../find.ts";
import { shortTime } from "../../table.ts";

interface Story {
  readonly record_id: number | null;
  readonly sfid: string | null;
  readonly salesforce_url: string | null;
  readonly row: string;
  readonly record: string;
  readonly salesforce_error: string | null;
  readonly last_modified_by: string | null;
  readonly values: readonly Value[];
  readonly remedy: string | null;
  readonly events: readonly Happening[];
}

interface Value {
  readonly column: string;
  readonly postgres: string | null;
  readonly salesforce: string | null;
  readonly equal: boolean | null;
}

interface Happening {
  readonly at: string;
  readonly from: string;
  readonly text: string;
  readonly by: string | null;
  readonly state: string | null;
}

/** What happened to one row on both sides, oldest first, and what each holds now. */
export async function row(context: Context): Promise<void> {
  const { out } = context;
  const api = context.api();
  const { pg_table } = await findMapping(api, argument(context, 0));
  const { data } = await api.get<Story>(`/rows/${segment(pg_table)}/${segment(argument(context, 1))}/story`);
  if (out.json) return out.done("", data);
  out.note(
    `${pg_table} ${data.record_id ?? "without a row"}, record ${data.sfid ?? "none yet"}${data.salesforce_url ? `: ${data.salesforce_url}` : ""}`,
  );
  out.list(
    data.values,
    [
      { name: "COLUMN", of: ({ column }: Value) => column },
      { name: "POSTGRESQL", of: ({ postgres }: Value) => postgres },
      { name: "SALESFORCE", of: ({ salesforce }: Value) => salesforce },
      {
        name: "",
        of: ({ equal }: Value) => (equal === false ? "differs" : ""),
        paint: (cell: string) => out.paint("yellow", cell),
      },
    ],
    "no mapped columns",
  );
  out.list(
    data.events.toReversed(),
    [
      { name: "AT", of: ({ at }: Happening) => at, short: shortTime },
      { name: "FROM", of: ({ from }: Happening) => from },
      {
        name: "WHAT",
        of: ({ text }: Happening) => text,
        paint: (cell: string, { state }: Happening) => (state === "FAILED" ? out.paint("red", cell) : cell),
      },
      { name: "BY", of: ({ by }: Happening) => by, spare: true },
    ],
    "nothing is known of its past",
  );
  if (data.salesforce_error !== null) out.note(`Salesforce could not be asked: ${data.salesforce_error}`);
  if (data.remedy !== null) {
    out.note(data.remedy.startsWith("bridge ") ? "To send it, run:" : "To correct it, put in the right values:");
    out.note(`  ${data.remedy}`);
  }
}
