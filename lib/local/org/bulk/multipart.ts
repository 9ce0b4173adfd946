import { Refusal } from "../refusal.ts";
import type { RestCall } from "../rest-call.ts";

/** The job and its rows, where a client sends both in one multipart request; null for any other request. */
export function multipartOf(call: RestCall): { job: Record<string, unknown>; content: Buffer } | null {
  const boundary = /^multipart\/form-data;.*boundary="?([^";]+)"?/i.exec(call.headers["content-type"] ?? "")?.[1];
  if (boundary === undefined || !("bytes" in call.body)) return null;
  const parts = new Map(partsOf(call.body.bytes, boundary));
  const [job, content] = [parts.get("job"), parts.get("content")];
  if (!job || !content) throw new Refusal("INVALIDJOB", "a multipart request needs the parts job and content");
  return { job: JSON.parse(job.toString("utf8")) as Record<string, unknown>, content };
}

function partsOf(body: Buffer, boundary: string): [name: string, content: Buffer][] {
  const mark = `--${boundary}`;
  const parts: [string, Buffer][] = [];
  for (let at = body.indexOf(mark); at >= 0; ) {
    const start = at + mark.length;
    const end = body.indexOf(`\r\n${mark}`, start);
    if (end < 0) break;
    const headersEnd = body.indexOf("\r\n\r\n", start);
    const name = /name="?([^";\r\n]+)"?/.exec(body.toString("utf8", start, headersEnd))?.[1];
    if (name !== undefined && headersEnd < end) parts.push([name, body.subarray(headersEnd + 4, end)]);
    at = end + 2;
  }
  return parts;
}
