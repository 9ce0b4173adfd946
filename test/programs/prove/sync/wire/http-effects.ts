import type { IncomingMessage } from "node:http";
import type { OrgLedger, OrgWrite } from "./passage.ts";

/** The durable effect that a request asks for, in words; null: it only reads. */
export function effectOf({ method = "", url = "", headers }: IncomingMessage, body: Buffer): string | null {
  const target = headers["x-amz-target"];
  if (typeof target === "string") return effectInCloud(target, body);
  if (/^\/schedules\b/.test(url)) return method === "GET" ? null : `scheduler: ${method} schedule`;
  const operation = soapOperation(url, body);
  if (operation && SAVES.has(operation)) return `salesforce: ${operation}`;
  if (/^\/services\/oauth2\/token/.test(url)) return "salesforce: new session";
  if (/^\/services\/data\/v[\d.]+\/jobs\//.test(url) && method !== "GET") return `salesforce: ${method} job`;
  return null;
}

const SAVES: ReadonlySet<string> = new Set(["create", "update", "upsert", "delete", "undelete"]);

function effectInCloud(target: string, body: Buffer): string | null {
  const [service = "", action = ""] = target.split(".");
  if (service.startsWith("DynamoDB") && /^(Put|Update|Delete|BatchWrite|TransactWrite)Item/.test(action)) {
    const tables = [...body.toString("utf8").matchAll(/"TableName":"bridge-\w+-([\w-]+)"/g)].map(([, table]) => table);
    const inRequests = [...body.toString("utf8").matchAll(/"bridge-\w+-([\w-]+)":\[/g)].map(([, table]) => table);
    return `dynamodb: ${action} ${[...new Set([...tables, ...inRequests])].sort().join(", ")}`;
  }
  if (service === "AmazonSQS" && action.startsWith("SendMessage")) {
    return `sqs: ${action} ${/"QueueUrl":"[^"]*\/bridge-\w+-([\w-]+)"/.exec(body.toString("utf8"))?.[1]}`;
  }
  return null;
}

/** The label under which Salesforce counts a request; null: it costs nothing. */
export function labelOf(url: string): string | null {
  if (/^\/+services\/Soap\//i.test(url)) return "SOAP";
  const resource = /^\/+services\/data\/v[\d.]+\/+(\w+)/.exec(url)?.[1];
  if (resource === undefined) return null;
  if (resource === "jobs") return "BULK";
  return resource === "composite" ? "COMPOSITE" : "REST";
}

function soapOperation(url: string, body: Buffer): string | null {
  if (!/^\/services\/Soap\//i.test(url)) return null;
  return /<(?:\w+:)?Body[^>]*>\s*<(?:\w+:)?(\w+)/.exec(body.toString("utf8"))?.[1] ?? null;
}

/** The save that a request asks for. Values are read as they are, so the proof's own have nothing to escape. */
export function writeIn(
  { method, url = "" }: IncomingMessage,
  body: Buffer,
  jobs: OrgLedger["jobs"],
  sender: number,
): OrgWrite | null {
  const job = method === "PUT" ? jobs.get(/\/jobs\/ingest\/(\w+)\/batches/.exec(url)?.[1] ?? "") : undefined;
  const asked = { sender, sentAt: Date.now(), answeredAt: null, wasHeld: false, results: null };
  if (job) return { ...asked, ...job, records: recordsInCsv(body.toString("utf8")) };
  const operation = soapOperation(url, body);
  if (!operation || !SAVES.has(operation)) return null;
  const text = body.toString("utf8");
  const records = [...text.matchAll(/<(?:\w+:)?sObjects\b[^>]*>([\s\S]*?)<\/(?:\w+:)?sObjects>/g)].map(
    ([, inner = ""]) =>
      Object.fromEntries(
        [...inner.matchAll(/<(?:\w+:)?(\w+)[^>]*>([^<]*)<\//g)].map(([, name = "", value = ""]) => [name, value]),
      ),
  );
  const ids = [...text.matchAll(/<(?:\w+:)?(?:ids|ID)\b[^>]*>([^<]+)</g)].map(([, Id = ""]) => ({ Id }));
  return {
    ...asked,
    operation,
    object: records[0]?.["type"] ?? "",
    records: records.length > 0 ? records : ids,
  };
}

/** Every value is in quotes, and none of the proof's own holds one. */
function recordsInCsv(text: string): OrgWrite["records"] {
  const [header = [], ...lines] = text
    .trim()
    .split("\n")
    .map((line) => line.slice(1, -1).split('","'));
  return lines.map((line) => Object.fromEntries(header.map((name, at) => [name, line[at] ?? ""])));
}

/** A job of the Bulk API that was just made. */
export function jobIn(
  { method, url = "" }: IncomingMessage,
  answer: Buffer,
): readonly [string, { operation: string; object: string }] | null {
  if (method !== "POST" || !/\/jobs\/ingest\/?$/.test(url)) return null;
  const { id, operation = "", object = "" } = JSON.parse(answer.toString("utf8")) as Partial<Record<string, string>>;
  return id === undefined ? null : [id, { operation, object }];
}

/** The results of a save in their order; null: the whole request was refused. */
export function resultsIn(body: Buffer): OrgWrite["results"] {
  const found = [...body.toString("utf8").matchAll(/<(?:\w+:)?result>([\s\S]*?)<\/(?:\w+:)?result>/g)];
  if (found.length === 0) return null;
  return found.map(([, inner = ""]) => ({
    id: /<(?:\w+:)?id>([^<]*)</.exec(inner)?.[1] ?? "",
    success: /<(?:\w+:)?success>true</.test(inner),
  }));
}
