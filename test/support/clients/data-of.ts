import type { Response } from "./call.ts";

/** The `data` of a good answer; a refusal is shown as it came. */
export function dataOf<Data>(answer: Pick<Response, "status" | "text" | "json">): Data {
  if (answer.json?.success !== true) throw new Error(`answered ${answer.status}: ${answer.text}`);
  return answer.json.data as Data;
}
