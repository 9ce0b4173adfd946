import type { ListedEntry } from "../model/workspace/audit.ts";

const COLUMNS = ["id", "created_at", "actor", "action", "resource_type", "resource_id", "detail"];

/** The first line of the CSV, and then the lines of each batch (RFC 4180: CRLF, every cell quoted). */
export async function* csvOf(batches: AsyncIterable<readonly ListedEntry[]>): AsyncGenerator<string> {
  yield line(COLUMNS);
  for await (const entries of batches) if (entries.length > 0) yield entries.map(lineOf).join("");
}

const lineOf = ({ id, created_at, actor, action, resource_type, resource_id, detail }: ListedEntry): string =>
  line([id, created_at, actor, action, resource_type, resource_id, jsonCell(detail)]);

const line = (cells: readonly string[]): string => `${cells.map(cell).join(",")}\r\n`;

/**
 * A spreadsheet takes a cell that begins like this for a formula (OWASP, CSV injection), and in half of the world's
 * countries a semicolon separates cells, within quotation marks or not; an apostrophe makes it text.
 */
const FORMULA = /(^|;)(?=[=+\-@\t\r\n＝＋－＠])/g;

const cell = (text: string): string => `"${text.replace(FORMULA, "$1'").replaceAll('"', '""')}"`;

/** In JSON the semicolon itself is written otherwise, so that readers find the very texts. */
const jsonCell = (detail: object): string => JSON.stringify(detail).replace(FORMULA, "\\u003b");
