import { ask, type Door, MARK } from "./door.ts";

/** Children first. Each with the field that a drill's mark is in. */
const MADE = [
  ["Contact", "LastName"],
  ["Account", "Name"],
] as const;

const BASE = "/services/data/v62.0";

/** Deletes every record that a drill has made there, of an earlier one that was broken off too; gives those that stay. */
export async function sweepUp(door: Door): Promise<readonly string[]> {
  for (const [object, field] of MADE)
    for (const id of await marked(door, object, field))
      await ask(door, { method: "DELETE", path: `${BASE}/sobjects/${object}/${id}` });
  const left = await Promise.all(MADE.map(([object, field]) => marked(door, object, field)));
  return left.flat();
}

async function marked(door: Door, object: string, field: string): Promise<readonly string[]> {
  const soql = `SELECT Id FROM ${object} WHERE ${field} LIKE '${MARK}%'`;
  const { status, body } = await ask(door, { method: "GET", path: `${BASE}/query?q=${encodeURIComponent(soql)}` });
  if (status !== 200) throw new Error(`${soql} answered ${status}: ${JSON.stringify(body)}`);
  return (body as { records: { Id: string }[] }).records.map(({ Id }) => Id);
}
