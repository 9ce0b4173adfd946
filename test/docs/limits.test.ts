import { describe, expect, test } from "vitest";
import { REQUESTS_PER_MINUTE } from "../../lib/access/rate-limit.ts";
import { LONGEST_NAME_BYTES } from "../../lib/adapters/postgres/session/sql.ts";
import { ANSWER_BYTES } from "../../lib/adapters/salesforce/answer-bytes.ts";
import { MAX_FIELDS } from "../../lib/config/mapping-rules.ts";
import type { OpenApi } from "../../lib/http/openapi/open-api.ts";
import { DEFAULT_SHARE } from "../../lib/model/calls/plan.ts";
import { MAX_RETRIES } from "../../lib/model/change/row-error.ts";
import { BATCH_SIZE, bulkCalls, JOB_RECORDS, soapCalls } from "../../lib/model/change/ways.ts";
import { ATTEMPT_SECONDS, RETRY_DELAYS_SECONDS } from "../../lib/model/delivery/delivery.ts";
import { MAX_WEBHOOKS } from "../../lib/model/delivery/webhook.ts";
import { KEPT_DAYS, WORKERS } from "../../lib/model/resources.ts";
import { CONNECTION_LIMITS, MOST_CONNECTIONS, RETENTION } from "../../lib/model/workspace/workspace.ts";
import { textOf } from "./blocks.ts";

const DESCRIBED = JSON.parse(textOf("lib/http/openapi/openapi.json")) as OpenApi;
const [KIB, MIB, DAY_SECONDS] = [1024, 1024 * 1024, 24 * 3600];
const RETRIES = RETRY_DELAYS_SECONDS as readonly number[];

/** The figures of each row of the page, in its order, as the code and the API's description have them. */
const FIGURES: Readonly<Record<string, readonly number[]>> = {
  "requests of one address": [REQUESTS_PER_MINUTE],
  body: [inCode("http/body.ts", "MAX_BODY_BYTES") / MIB, inCode("http/body.ts", "MAX_BODY_DEPTH")],
  "page of activity and errors": pageOf("list-activity"),
  "page of the audit log": pageOf("list-audit-log"),
  "`Idempotency-Key`": [1, 255],
  "mappings in a document": [inCode("config/document.ts", "MAX_MAPPINGS")],
  "fields of a mapping": [MAX_FIELDS],
  filter: [inCode("config/mapping-rules.ts", "MAX_FILTER"), inCode("model/mapping/filter.ts", "MAX_DEPTH")],
  "warnings of an import, details of a refusal": [inCode("http/input.ts", "MAX_DETAILS")],
  "webhooks of a workspace": [MAX_WEBHOOKS],
  "names of tables, columns and schemas": [LONGEST_NAME_BYTES],
  "interval between pulls": boundsOf("CreateMappingBody", "sf_polling_seconds"),
  "share of the org's calls": [100 * DEFAULT_SHARE.share],
  "records in one SOAP call": [BATCH_SIZE, BATCH_SIZE],
  "records in one Bulk job": [JOB_RECORDS, fewestInAJob()],
  "a value": [inCode("model/change/ways.ts", "FIELD_CHARACTERS")],
  "an answer after decompression: a page of records, or of deleted ones": [
    ANSWER_BYTES.page / MIB,
    inCode("adapters/salesforce/exact-json.ts", "MOST_VALUES"),
  ],
  "the description of an object, or the list of objects": [
    ANSWER_BYTES.description / MIB,
    inCode("adapters/salesforce/exact-json.ts", "MOST_VALUES"),
  ],
  "results of a save": [ANSWER_BYTES.saved / MIB, inCode("adapters/salesforce/write/write-records.ts", "MOST_TAGS")],
  "any other answer: a session, a state, a count": [ANSWER_BYTES.short / KIB],
  "a line of a Bulk job's file": [
    inCode("adapters/salesforce/bulk/csv-lines.ts", "LONGEST_LINE"),
    inCode("adapters/salesforce/bulk/csv-lines.ts", "MOST_NAMES"),
  ],
  version: [inCode("settings/judge-database.ts", "LEAST_VERSION") / 10_000],
  "a time in the log or in Bridge's tables": [1, 9999],
  "connections of a workspace": [MOST_CONNECTIONS, CONNECTION_LIMITS[0]],
  "rows that a pull locks at a time": [inCode("adapters/postgres/pull/apply.ts", "ROWS_AT_ONCE")],
  "a row that a transaction of yours holds": [
    inCode("adapters/postgres/pull/apply-images.ts", "ROW_LOCK_MILLISECONDS"),
  ],
  "from commit to the next send": [boundsOf("CreateMappingBody", "sf_polling_seconds")[0]],
  "automatic retries if the error may pass": [MAX_RETRIES],
  "a row that waits for its parent": [
    inCode("model/change/missing-parent.ts", "LONGEST_MILLISECONDS") / 1000 / DAY_SECONDS,
  ],
  "delivery of a webhook": [
    ATTEMPT_SECONDS,
    ...[RETRIES[0] ?? 0, (RETRIES[1] ?? 0) / 60, (RETRIES[2] ?? 0) / 60, (RETRIES[3] ?? 0) / 3600],
  ],
  "what is kept": [RETENTION.logDays, KEPT_DAYS.deliveryDays.unset, KEPT_DAYS.auditDays.unset],
  // AWS's own, by its pages of quotas.
  "concurrent executions of Lambda": [10, 1000],
  "one-second rate of EventBridge Scheduler": [500],
  "concurrent executions of `run-cycle`": [WORKERS["run-cycle"].maxConcurrency],
  roles: [1000],
  schedules: [1_000_000],
  "resources of a stack": [500],
  "inline policies of a role": [10_240],
};

describe("a figure of the page of limits is the one that holds", () => {
  const rows = rowsOf("lib/docs/limits.md").map(([what, limit]) => [withoutLinks(what), figuresIn(limit)] as const);

  test.each(rows.filter(([, figures]) => figures.length > 0))("%s: %j", (what, figures) => {
    expect({ [what]: figures }).toEqual({ [what]: FIGURES[what] });
  });

  test("and none is compared that the page does not have", () => {
    const withFigures = rows.filter(([, figures]) => figures.length > 0).map(([what]) => what);

    expect(Object.keys(FIGURES).toSorted()).toEqual(withFigures.toSorted());
  });

  test.each([
    ["page of activity and errors", pageOf("list-activity")],
    ["page of the audit log", pageOf("list-audit-log")],
  ])("%s: what is beyond counts as the most", (what, [, most]) => {
    const beyond = rowsOf("lib/docs/limits.md").find(([name]) => name === what)?.[2] ?? "";

    expect(figuresIn(beyond)).toEqual([most]);
  });
});

test("the workers of a stage use as many executions as the page says", () => {
  const all = Object.values(WORKERS).reduce((sum, { maxConcurrency }) => sum + maxConcurrency, 0);

  expect(textOf("lib/docs/limits.md")).toContain(`the workers of a stage use up to ${all}`);
});

/** How many entries a page has unless said otherwise, and how many it has at most. */
function pageOf(operation: string): [usual: number, most: number] {
  const all = Object.values(DESCRIBED.paths).flatMap((methods) => Object.values(methods));
  const limit = all
    .find(({ operationId }) => operationId === operation)
    ?.parameters?.find(({ name }) => name === "limit");
  const { default: usual, maximum } = (limit?.schema ?? {}) as { default?: number; maximum?: number };
  return [usual ?? 0, maximum ?? 0];
}

function boundsOf(body: string, property: string): [least: number, most: number] {
  const { properties = {} } = DESCRIBED.components.schemas[body] as {
    properties?: Record<string, { minimum?: number; maximum?: number }>;
  };
  return [properties[property]?.minimum ?? 0, properties[property]?.maximum ?? 0];
}

/** A constant of a file of lib that is a product of numbers. */
function inCode(file: string, name: string): number {
  const [, product = ""] =
    new RegExp(`^(?:export )?const ${name} = ([\\d_ *]+);`, "m").exec(textOf(`lib/${file}`)) ?? [];
  return product.split("*").reduce((sum, factor) => sum * Number(factor.replaceAll("_", "")), 1);
}

function fewestInAJob(): number {
  let records = 1;
  while (bulkCalls(records) >= soapCalls(records)) records += 1;
  return records;
}

/** The cells of a page's table, without its head. */
function rowsOf(file: string): (readonly [what: string, limit: string, beyond: string])[] {
  return textOf(file)
    .split("\n")
    .filter((line) => line.startsWith("| ") && !/^\| (?:what|quota) \|/.test(line) && !line.startsWith("| **"))
    .map((line) => line.slice(1, -1).split("|"))
    .map(([what = "", limit = "", beyond = ""]) => [what.trim(), limit.trim(), beyond.trim()]);
}

const withoutLinks = (text: string): string => text.replace(/ ?\(?\[[^\]]*\]\([^)]*\)\)?/g, "");

/** Its numbers, without those of the links' addresses. */
const figuresIn = (text: string): number[] =>
  [...withoutLinks(text).matchAll(/\d[\d,]*/g)].map(([figure]) => Number(figure.replaceAll(",", "")));
