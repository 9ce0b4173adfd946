import { harmless } from "./harmless.ts";

/** What of a log line a person in front of the terminal wants to see, in one line; null: it is for the file only. */
export function lineForPeople(line: string, at: Date): string | null {
  const entry = parse(line);
  const what = entry === null ? line : phrase(entry);
  if (what === null) return null;
  // A stack trace has lines, which are indented; a message from outside has one.
  const lines = what.replace(/[\n\r\v\f\u0085\u2028\u2029]+/g, entry === null ? "\n            " : " ");
  return harmless(`  ${clock(at)}  ${lines}`);
}

interface Entry {
  readonly level?: string;
  readonly event?: string;
  readonly message?: string;
  readonly sf_object?: string;
  readonly [key: string]: unknown;
}

function phrase(entry: Entry): string | null {
  const subject = entry.sf_object ?? entry.event ?? "bridge";
  if (entry.level === "error") return `${subject}: ${entry.message ?? entry["reason"] ?? "failed"} (the log has more)`;
  if (entry.event === "cycle") return moved(entry, subject);
  if (entry.event === "provisioning")
    return `${subject}: ${entry["reason"] ?? `table ${String(entry["pg_table"])} is ${String(entry["state"])}`}`;
  if (entry.event === "load" && entry["outcome"] === "done")
    return `${subject}: first load done, ${count(entry, "read")} records`;
  if (entry.event === "budget" || entry.event === "deletes held") return entry.message ?? null;
  return entry.level === "warn" ? `${subject}: ${entry.message ?? "look at the log"}` : null;
}

/** `Contact: 3 to Salesforce, 1 from Salesforce, 1 refused` */
function moved(entry: Entry, subject: string): string | null {
  const parts = [
    [count(entry, "accepted"), "to Salesforce"],
    [count(entry, "inserted") + count(entry, "updated") + count(entry, "deleted"), "from Salesforce"],
    [count(entry, "refused"), "refused"],
    [count(entry, "rejected"), "kept aside: the table did not take them"],
  ] as const;
  const shown = parts.filter(([number]) => number > 0).map(([number, words]) => `${number} ${words}`);
  return shown.length === 0 ? null : `${subject}: ${shown.join(", ")}`;
}

function count(entry: Entry, key: string): number {
  const value = entry[key];
  return typeof value === "number" ? value : 0;
}

function parse(line: string): Entry | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? (value as Entry) : null;
  } catch {
    return null;
  }
}

const clock = (at: Date): string => at.toTimeString().slice(0, 8);
