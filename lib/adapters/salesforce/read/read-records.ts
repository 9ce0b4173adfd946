import * as z from "zod/mini";
import { type RequestRefusal, refusalOf, SalesforceRefusal } from "../../../model/change/refusal.ts";
import type { Salesforce } from "../../../sync/ports/cycle-ports.ts";
import type { DeletedRecords, DeletedWindow, QueryPage } from "../../../sync/ports/pull-ports.ts";
import { isTooLarge } from "../answer-bytes.ts";
import { type Client, call } from "../client.ts";
import { describeObject } from "../describe/describe-objects.ts";
import { asDigits } from "../exchange.ts";
import { understand } from "../understand.ts";

type Reads = Pick<Salesforce, "query" | "queryTogether" | "askTogether" | "recordCount" | "deleted" | "describe">;

/** Salesforce refuses a request whose line and headers together pass 16,384 bytes. */
const MAX_PATH = 8_000;

/** The calls that read. Every number arrives as the digits that Salesforce wrote. */
export function readingCalls(client: Client): Reads {
  const get = (path: string, deadline?: number) => call(client, { method: "GET", path, deadline, reads: asDigits });

  const askAtOnce: Reads["askTogether"] = async (soqls, windows, deadline) => {
    const paths = [...soqls.map(queryPath), ...windows.map(deletedPath)];
    const { answer, askedAt } = await call(client, ({ apiVersion }) => ({
      method: "POST",
      path: "/composite",
      json: { allOrNone: false, compositeRequest: paths.map(asPart(apiVersion)) },
      deadline,
      reads: asDigits,
    }));
    const parts = understand(composite, answer, "a composite").compositeResponse;
    return {
      pages: parts.slice(0, soqls.length).map((one) => bodyOrRefusal(one, (body) => pageOf(body, askedAt))),
      deleted: parts.slice(soqls.length).map((one) => bodyOrRefusal(one, (body) => deletedOf(body, askedAt))),
    };
  };
  // No part is refused that would have been answered on its own, or in smaller pieces.
  const askTogether: Reads["askTogether"] = (soqls, windows, deadline) =>
    askAtOnce(soqls, windows, deadline).catch((error: unknown) => {
      if (!isTooLarge(error)) throw error;
      return { pages: soqls.map(() => error.refusal), deleted: windows.map(() => error.refusal) };
    });
  const queryTogether: Reads["queryTogether"] = async (soqls, deadline) =>
    (await askTogether(soqls, [], deadline)).pages;

  return {
    askTogether,
    queryTogether,
    query: async (soql, milliseconds) => {
      const path = queryPath(soql);
      if (path.length <= MAX_PATH) {
        const { answer, askedAt } = await get(path, milliseconds);
        return pageOf(answer, askedAt);
      }
      // A wide object's query does not fit into a URL, but into the body of a composite.
      const [only] = await queryTogether([soql], milliseconds);
      if (only === undefined) throw new Error("a composite of one query answered nothing");
      if ("kind" in only) throw new SalesforceRefusal(only);
      return only;
    },
    recordCount: async (object) => {
      try {
        const { answer } = await get(`/limits/recordCount?sObjects=${object}`);
        const [counted] = understand(counts, answer, "the record counts").sObjects;
        return counted === undefined ? null : Number(counted.count);
      } catch (error) {
        if (error instanceof SalesforceRefusal && UNCOUNTED.has(error.refusal.kind)) return null;
        throw error;
      }
    },
    deleted: async (object, from, until, milliseconds) => {
      const { answer, askedAt } = await get(deletedPath({ object, from, until }), milliseconds).catch(asTooMany);
      return deletedOf(answer, askedAt);
    },
    describe: (object) => describeObject(client, object),
  };
}

/** Beyond what is read here, as beyond what Salesforce lists (EXCEEDED_ID_LIMIT), a sweep looks for hard deletes. */
function asTooMany(error: unknown): never {
  if (!isTooLarge(error)) throw error;
  throw new SalesforceRefusal({ ...error.refusal, kind: "replication" }, error);
}

const queryPath = (soql: string) => `/queryAll?q=${encodeURIComponent(soql)}`;

const deletedPath = ({ object, from, until }: DeletedWindow) =>
  `/sobjects/${object}/deleted/?start=${encodeURIComponent(instant(from))}&end=${encodeURIComponent(instant(until))}`;

const instant = (at: Date) => `${at.toISOString().slice(0, 19)}+00:00`;

const asPart = (apiVersion: string) => (path: string, index: number) => ({
  method: "GET",
  url: `/services/data/v${apiVersion}${path}`,
  referenceId: `q${index}`,
});

const record = z.record(z.string(), z.unknown());
const page = z.object({ records: z.array(record), done: z.boolean() });

function pageOf(answer: unknown, readAt: Date): QueryPage {
  const { records, done } = understand(page, answer, "a query");
  return { records, complete: done, readAt };
}

const counts = z.object({ sObjects: z.array(z.object({ count: z.string() })) });

/** Not every object is counted, and not for every user. */
const UNCOUNTED: ReadonlySet<string> = new Set(["mapping", "bug"]);

const errors = z.array(z.object({ errorCode: z.string(), message: z.string() }));
const part = z.object({ httpStatusCode: z.string(), body: z.unknown() });
const composite = z.object({ compositeResponse: z.array(part) });

function bodyOrRefusal<Read>(
  { httpStatusCode, body }: z.infer<typeof part>,
  read: (body: unknown) => Read,
): Read | RequestRefusal {
  if (httpStatusCode === "200") return read(body);
  const [first] = understand(errors, body, "a query in a composite");
  return refusalOf(Number(httpStatusCode), first?.errorCode ?? `HTTP_${httpStatusCode}`, first?.message ?? "");
}

const deletions = z.object({
  deletedRecords: z.array(z.object({ id: z.string(), deletedDate: z.string() })),
  earliestDateAvailable: z.string(),
  latestDateCovered: z.string(),
});

function deletedOf(answer: unknown, readAt: Date): DeletedRecords {
  const { deletedRecords, earliestDateAvailable, latestDateCovered } = understand(deletions, answer, "getDeleted");
  return {
    records: deletedRecords.map(({ id, deletedDate }) => ({ id, deletedAt: new Date(deletedDate) })),
    earliestDateAvailable: new Date(earliestDateAvailable),
    latestDateCovered: new Date(latestDateCovered),
    readAt,
  };
}
