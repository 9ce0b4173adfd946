import * as z from "zod/mini";
import { Failure, type FailureDetail } from "../../model/failure.ts";
import { pushes } from "../../model/mapping/mapping.ts";
import { withDatabase } from "../../monitoring/with-database.ts";
import { type Needs, noteMapping, type OnMapping, refusal } from "../change-rows.ts";
import { body } from "../shapes.ts";

const texts = z.record(z.string(), z.nullable(z.string({ error: "must be a text or null" })), {
  error: "must be an object of columns and their texts",
});

/** Columns and the texts to write, as PostgreSQL reads them; `was`: what the row held when the caller read it. */
export const rowValues = body({
  values: texts.check(z.refine((values) => Object.keys(values).length > 0, { error: "must name a column" })),
  was: z.optional(texts),
});

/** The captured change, whose end the activity list shows. */
export const writtenView = z.object({
  mapping_id: z.string(),
  sf_object: z.string(),
  table_name: z.string(),
  record_id: z.int(),
  change_id: z.int(),
});

/** Writes values into a row as its application would: they are captured, and sent by the next cycle. */
export async function writeRow(
  needs: Needs,
  who: OnMapping,
  key: string,
  { values, was = {} }: z.infer<typeof rowValues>,
): Promise<z.infer<typeof writtenView>> {
  const { mapping, workspace, actor } = who;
  const { sfObject, pgTable } = mapping;
  if (!/^-?\d{1,18}$/.test(key)) throw new Failure("NOT_FOUND", `name the row of ${pgTable} by its own key, a number`);
  if (!pushes(mapping.syncDirection)) throw refusal(sfObject, "only reads from Salesforce: correct the record there");
  const unasked = Object.keys(was).find((column) => !Object.hasOwn(values, column));
  if (unasked !== undefined) throw refusalOf([{ path: `body.was.${unasked}`, message: "has no value to write" }]);
  await noteMapping(needs, who, "rows.written", { record_id: Number(key), columns: Object.keys(values) });
  const written = await withDatabase(needs.rowQueries, workspace, (queries) =>
    queries.writeRow(mapping.id, { recordId: key, values, was, actor }),
  );
  switch (written.kind) {
    case "written":
      return {
        mapping_id: mapping.id,
        sf_object: sfObject,
        table_name: pgTable,
        record_id: Number(key),
        change_id: written.changeId,
      };
    case "absent":
      throw new Failure("NOT_FOUND", `${pgTable} has no row with the key ${key}`);
    case "busy":
      throw new Failure("CONFLICT", "a transaction of the application holds the row: try again in a moment");
    case "uncaptured":
      throw new Failure(
        "CONFLICT",
        "nothing was written: the row holds these values already, or its changes are not captured (bridge doctor)",
      );
    case "moved":
      throw new Failure("CONFLICT", `${written.column} has changed since it was read: read the row again`);
    case "refused": {
      const { column, message } = written;
      throw refusalOf([{ path: column === null ? "body.values" : `body.values.${column}`, message }]);
    }
  }
}

function refusalOf(details: readonly FailureDetail[]): Failure {
  const [first] = details;
  return new Failure("VALIDATION_ERROR", `${first?.path}: ${first?.message}`, { details });
}
