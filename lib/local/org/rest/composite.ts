import { inTransaction } from "../parts-before-bulk.ts";
import { Refusal } from "../refusal.ts";
import { jsonObject, objectsIn, ok, type RestCall, type RestReply } from "../rest-call.ts";
import { readBack } from "../soql/render.ts";
import { textOf } from "../text-of.ts";
import { errorsOf } from "./rest-errors.ts";

const MAX_REQUESTS = 25;
const MAX_QUERIES_AND_COLLECTIONS = 5;

/** Runs a REST request inside of another one; it is not counted separately. */
export type RunInner = (call: RestCall, request: { method: string; url: string; body: unknown }) => Promise<RestReply>;

/** What one part of a composite came to. */
interface Part {
  readonly referenceId: string;
  readonly status: number;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

class Halted extends Error {
  readonly parts: readonly Part[];

  constructor(parts: readonly Part[]) {
    super("halted");
    this.parts = parts;
  }
}

interface Subrequest {
  readonly method: string;
  readonly url: string;
  readonly body: unknown;
  readonly referenceId: string;
}

/** `POST /composite` (salesforce-facts 3.2): up to 25 requests in order, later ones may use the answers of earlier ones. */
export function composite(runInner: RunInner) {
  return async (call: RestCall): Promise<RestReply> => {
    const body = jsonObject(call);
    const requests = subrequestsOf(body["compositeRequest"]);
    refuseTooMany(requests);
    const parts =
      body["allOrNone"] === true
        ? await runAllOrNone(call, requests, runInner)
        : await runEach(call, requests, runInner, false);
    return ok({
      compositeResponse: parts.map(({ referenceId, status, body: answer, headers }) => ({
        body: answer ?? null,
        httpHeaders: headers,
        httpStatusCode: status,
        referenceId,
      })),
    });
  };
}

function subrequestsOf(value: unknown): Subrequest[] {
  const requests = objectsIn(value);
  if (requests.length === 0)
    throw new Refusal("JSON_PARSER_ERROR", "compositeRequest must hold at least one subrequest");
  return requests.map((entry, index) => ({
    method: textOf(entry["method"] ?? "GET").toUpperCase(),
    url: textOf(entry["url"] ?? ""),
    body: entry["body"],
    referenceId: textOf(entry["referenceId"] ?? `ref${index}`),
  }));
}

function refuseTooMany(requests: readonly Subrequest[]): void {
  if (requests.length > MAX_REQUESTS)
    throw new Refusal("LIMIT_EXCEEDED", `The number of subrequests exceeds the limit of ${MAX_REQUESTS}`);
  const heavy = requests.filter(({ url }) => /\/(query|queryAll|composite\/sobjects)\b/.test(url));
  if (heavy.length > MAX_QUERIES_AND_COLLECTIONS) {
    throw new Refusal(
      "LIMIT_EXCEEDED",
      `The number of query and sObject collection subrequests exceeds the limit of ${MAX_QUERIES_AND_COLLECTIONS}`,
    );
  }
  const ids = requests.map((request) => request.referenceId);
  const repeated = ids.find((id, index) => ids.indexOf(id) !== index);
  if (repeated !== undefined) throw new Refusal("INVALID_INPUT", `Duplicate referenceId: ${repeated}`);
}

async function runEach(
  call: RestCall,
  requests: readonly Subrequest[],
  runInner: RunInner,
  stopAtFailure: boolean,
): Promise<Part[]> {
  const parts: Part[] = [];
  const answers = new Map<string, unknown>();
  for (const request of requests) {
    const part = await runOne(call, request, answers, runInner);
    parts.push(part);
    if (part.status < 400) answers.set(part.referenceId, part.body);
    else if (stopAtFailure) throw new Halted(parts);
  }
  return parts;
}

async function runOne(
  call: RestCall,
  request: Subrequest,
  answers: ReadonlyMap<string, unknown>,
  runInner: RunInner,
): Promise<Part> {
  const { referenceId } = request;
  try {
    if (/\/jobs\//.test(request.url))
      throw new Refusal("INVALID_INPUT", "Bulk API requests cannot be part of a composite");
    const resolve = (text: string) => resolved(text, answers);
    const body =
      request.body === undefined
        ? undefined
        : JSON.parse(JSON.stringify(request.body), (_, value) => (typeof value === "string" ? resolve(value) : value));
    const answer = await runInner(call, { method: request.method, url: textOf(resolve(request.url)), body });
    if ("reply" in answer) return { referenceId, status: answer.reply.status, body: null, headers: {} };
    return { referenceId, status: answer.status, body: answer.json, headers: answer.headers ?? {} };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { referenceId, status: error.status, body: errorsOf(error), headers: {} };
  }
}

/** `@{ref.records[0].Id}` replaced by that part of an earlier answer. */
function resolved(text: string, answers: ReadonlyMap<string, unknown>): unknown {
  const read = (expression: string): unknown => {
    const [referenceId = "", ...path] = expression.replace(/\[(\d+)\]/g, ".$1").split(".");
    if (!answers.has(referenceId))
      throw new Refusal("PROCESSING_HALTED", `Invalid reference specified. No value for ${expression} found`);
    const value = path.reduce<unknown>(
      (place, key) => (place as Record<string, unknown> | null | undefined)?.[key],
      answers.get(referenceId),
    );
    if (value === undefined)
      throw new Refusal(
        "INVALID_REFERENCE",
        `Invalid reference specified. No value for ${expression} found in ${referenceId}`,
      );
    return readBack(value);
  };
  const whole = /^@\{([^}]+)\}$/.exec(text)?.[1];
  return whole === undefined
    ? text.replace(/@\{([^}]+)\}/g, (_, expression: string) => textOf(read(expression)))
    : read(whole);
}

/** The first failure takes everything back; the others say that they were halted. */
async function runAllOrNone(
  call: RestCall,
  requests: readonly Subrequest[],
  runInner: RunInner,
): Promise<readonly Part[]> {
  const { parts, session, name } = call;
  const startedAt = parts.clock.now();
  await inTransaction(parts, { session, request: name }, () => null);
  const bound = { ...call, parts: { ...parts, committing: parts.transactions.immediate(startedAt) } };
  try {
    return await parts.database.exclusively(() => runEach(bound, requests, runInner, true));
  } catch (error) {
    if (!(error instanceof Halted)) throw error;
    const failed = error.parts[error.parts.length - 1];
    return requests.map(({ referenceId }) =>
      failed && referenceId === failed.referenceId ? failed : haltedPart(referenceId),
    );
  }
}

function haltedPart(referenceId: string): Part {
  const message = "The transaction was rolled back since another operation in the same transaction failed.";
  return { referenceId, status: 400, body: [{ errorCode: "PROCESSING_HALTED", message }], headers: {} };
}
