import { appendFileSync, existsSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CycleMessage } from "../../lib/model/messages.ts";

type Key = Pick<CycleMessage, "workspace_id" | "mapping_id">;

/**
 * The cycles that an invocation has at work, in a file: Lambda keeps /tmp when it starts a function again that died of
 * its memory or its time (AWS Lambda Developer Guide, Understanding the Lambda execution environment lifecycle). Null
 * outside Lambda, where a process has many invocations at once.
 */
const file = (): string | null => (process.env["METRICS_NAMESPACE"] ? join(tmpdir(), "cycles-at-work") : null);

/** Those that the invocation before had at work when it died; afterwards none is noted. */
export function takeUnfinished(): readonly Key[] {
  const path = file();
  if (path === null || !existsSync(path)) return [];
  const unfinished = new Set<string>();
  for (const line of readFileSync(path, "utf8").trim().split("\n")) {
    const key = line.slice(1);
    if (line.startsWith("+")) unfinished.add(key);
    else unfinished.delete(key);
  }
  rmSync(path);
  return [...unfinished].map((key) => {
    const [workspace_id = "", mapping_id = ""] = key.split(" ");
    return { workspace_id, mapping_id };
  });
}

const note = (sign: "+" | "-", { workspace_id, mapping_id }: Key) => {
  const path = file();
  if (path !== null) appendFileSync(path, `${sign}${workspace_id} ${mapping_id}\n`);
};

/** Notes a cycle for as long as it is at work. */
export async function atWork<Answer>(key: Key, work: () => Promise<Answer>): Promise<Answer> {
  note("+", key);
  try {
    return await work();
  } finally {
    note("-", key);
  }
}
