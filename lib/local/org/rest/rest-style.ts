import type { Answer, Style } from "../soql/render.ts";
import { restValue } from "../soql/render.ts";

/** How REST writes records: `attributes` first, JSON values, children as a result of their own. */
export function restStyle(base: string): Style {
  return {
    head: (type, id) => ({ attributes: id === null ? { type } : { type, url: `${base}/sobjects/${type}/${id}` } }),
    value: (field, stored, id) =>
      field.type === "base64" && stored !== null ? `${base}/sobjects/${id}/${field.name}` : restValue(field, stored),
    children: (records: Answer[]) => ({ totalSize: records.length, done: true, records }),
  };
}
