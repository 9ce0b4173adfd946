import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { OpenApi, Operation } from "../../../lib/http/openapi/open-api.ts";
import { type FailureCode, STATUS_OF } from "../../../lib/model/failure.ts";
import { refuseSecretsInAnswer } from "../run/secrets.ts";

interface Answered {
  readonly status: number;
  readonly contentType: string | null;
  readonly text: string;
}

const FILE = join(import.meta.dirname, "../../../lib/http/openapi/openapi.json");

interface Described {
  readonly method: string;
  readonly path: string;
  readonly pattern: RegExp;
  readonly operation: Operation;
}

let read: ReturnType<typeof readDescription> | null = null;

function description() {
  read ??= readDescription(JSON.parse(readFileSync(FILE, "utf8")) as OpenApi);
  return read;
}

function readDescription(document: OpenApi) {
  const ajv = new Ajv2020({ strict: false, formats: { "date-time": /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/ } });
  ajv.addSchema(document, "api");
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, pattern: patternOf(path), operation })),
  );
  return { ajv, operations };
}

/** `/api/v1/t/{workspace_id}/health` as an expression; what is literal is preferred, because it is tried first. */
const patternOf = (path: string): RegExp => new RegExp(`^${path.replaceAll(".", "\\.").replace(/\{\w+\}/g, "[^/]+")}$`);

/**
 * Throws when an answer is not what the API's description promises for this request: a status that it does not name, a
 * refusal whose code has another status, a field missing, too many or of another type. What is no part of the API must
 * be refused.
 */
export function checkDescribed(method: string, target: string, { status, headers }: Response, text: string): void {
  const answered = { status, contentType: headers.get("content-type"), text };
  const path = target.replace(/[?#].*$/, "");
  const onPath = description().operations.filter(({ pattern }) => pattern.test(path));
  const best = onPath.toSorted((one, other) => variables(one) - variables(other))[0];
  const described = onPath.find((one) => one.path === best?.path && one.method === method.toLowerCase());
  if (described) {
    checkOperation(described.operation.operationId, answered);
    return;
  }
  refuseSecretsInAnswer(`${method} ${path}`, status, text);
  const withoutAllow = status === 405 && !headers.get("allow") ? ["405 without Allow"] : [];
  if (best) tell(`${method} ${path}`, [...refusal([405, 429], answered), ...withoutAllow]);
  else if (path.startsWith("/api/")) tell(`${method} ${path}`, refusal([404, 429], answered));
}

const variables = ({ path }: Described): number => path.split("{").length;

/** The same for an answer of a known operation, which may show no secret unless it is there to show it. */
export function checkOperation(operationId: string, answered: Answered): void {
  refuseSecretsInAnswer(operationId, answered.status, answered.text);
  const found = description().operations.find(({ operation }) => operation.operationId === operationId);
  if (!found) throw new Error(`${operationId} is not described: npm run openapi`);
  tell(operationId, complaints(found, answered));
}

function tell(name: string, wrong: readonly string[]): void {
  if (wrong.length > 0) throw new Error(`${name} answers what is not described: ${wrong.join("; ")}`);
}

function complaints({ path, method, operation }: Described, { status, contentType, text }: Answered) {
  const { responses } = operation;
  const key = [String(status), `${Math.floor(status / 100)}XX`].find((one) => one in responses);
  if (key === undefined) return [`status ${status} ${text}`];
  if (status >= 400) return refusal([status], { status, contentType, text });
  const { content } = responses[key] as { readonly content: Readonly<Record<string, unknown>> };
  const type = contentType?.replace(/;.*$/, "") ?? "none";
  if (!(type in content)) return [`content of type ${contentType}`];
  if (type !== "application/json") return [];
  return mismatches(["paths", path, method, "responses", key, "content", type, "schema"], text);
}

function refusal(statuses: readonly number[], { status, contentType, text }: Answered): string[] {
  if (!statuses.includes(status)) return [`status ${status} ${text}`];
  if (contentType !== "application/json") return [`a refusal of type ${contentType}: ${text}`];
  const wrong = mismatches(["components", "schemas", "Refusal"], text);
  if (wrong.length > 0) return wrong;
  const { code } = (JSON.parse(text) as { error: { code: FailureCode } }).error;
  return STATUS_OF[code] === status ? [] : [`${code} with status ${status}`];
}

function mismatches(place: readonly string[], text: string): string[] {
  const { ajv } = description();
  const pointer = `api#/${place.map((part) => part.replaceAll("~", "~0").replaceAll("/", "~1")).join("/")}`;
  const validate = ajv.getSchema(pointer);
  if (!validate) throw new Error(`the description has nothing at ${pointer}`);
  if (validate(JSON.parse(text))) return [];
  return [`${ajv.errorsText(validate.errors, { dataVar: "answer" })}: ${text.slice(0, 2000)}`];
}
