import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CallMeter } from "../../../lib/adapters/salesforce/call-meter.ts";
import { connectOrg } from "../../../lib/adapters/salesforce/connect-org.ts";
import { usageReader } from "../../../lib/adapters/salesforce/describe/connected-org.ts";
import { listObjects } from "../../../lib/adapters/salesforce/describe/describe-objects.ts";
import { orgReach } from "../../../lib/adapters/salesforce/org-reach.ts";
import { SalesforceRefusal } from "../../../lib/model/change/refusal.ts";
import { FLOODS, type LyingOrg, startLyingOrg } from "../../support/doubles/lying-org.ts";
import { engineCalls, loginCalls, orgConnection, orgSessions } from "../../support/doubles/org-calls.ts";
import { firstInGate, isWholeGrid, longTest } from "../../support/run/whole-grid.ts";

let org: LyingOrg;
beforeAll(async () => {
  org = await startLyingOrg();
});
afterAll(() => org[Symbol.asyncDispose]());

const salesforce = () => connectOrg(orgSessions(org.url, "token"), new AbortController().signal);
const engine = engineCalls(salesforce);
const calls = {
  ...engine,
  ...loginCalls(() => org.url),
  objects: () => listObjects({ sessions: orgSessions(org.url, "token"), meter: new CallMeter() }),
  limits: () => usageReader({ sessionsOf: () => orgSessions(org.url, "token"), countCalls: async () => {} })("ws"),
};

/** Read as it arrives, a line at a time. */
const STREAMS = ["bulkResults", "bulkSaved"];

/** Encodings that are not read at all, for they were not asked for. */
const OTHERS = /^a bomb of (?!gzip$)/;

/** Answers for each part of the question. */
const PARTS = ["askTogether", "queryTogether"];

const refusalOf = (error: unknown) => (error instanceof SalesforceRefusal ? error.refusal : error);

describe.each(Object.keys(FLOODS).filter((name) => OTHERS.test(name)))("%s is not read", (flood) => {
  longTest.each(firstInGate(3, Object.entries(calls)))("by %s", async (_, ask) => {
    org.answer((response) => FLOODS[flood]?.(response));

    const found = await ask().catch(refusalOf);

    expect(found).toMatchObject({ code: "BROKEN_ANSWER", mayHaveRun: true });
    expect(found).toHaveProperty("message", expect.stringContaining("which was not asked for"));
  });
});

describe.each(Object.keys(FLOODS).filter((name) => !OTHERS.test(name)))(
  "%s is read up to the limit of its kind",
  (flood) => {
    longTest.each(firstInGate(3, Object.entries(calls)))("by %s", async (name, ask) => {
      org.answer((response) => {
        response.setHeader("sforce-locator", "null");
        FLOODS[flood]?.(response);
      });

      const found = await ask().catch(refusalOf);

      if (PARTS.includes(name)) expect(JSON.stringify(found)).toContain('"code":"TOO_LARGE"');
      else if (STREAMS.includes(name)) expect(found).toMatchObject({ code: "BROKEN_ANSWER", kind: "transient" });
      else expect(found).toMatchObject({ code: "TOO_LARGE", mayHaveRun: true });
    });

    test("by health", async () => {
      org.answer((response) => FLOODS[flood]?.(response));

      expect(await orgReach(() => new Date()).isReachable(orgConnection(org.url, "token"))).toBe(false);
    });

    test.each(firstInGate(1, [401, 500, 503]))("of a refusal with status %i, whose status counts", async (status) => {
      org.answer((response) => {
        response.statusCode = status;
        FLOODS[flood]?.(response);
      });

      const code = status === 401 ? "HTTP_401" : `HTTP_${status}`;
      expect(await salesforce().query("SELECT Id FROM Account").catch(refusalOf)).toMatchObject({ code });
    });

    test("of a web page in the place of a file", async () => {
      org.answer((response) => {
        response.setHeader("content-type", "text/html");
        FLOODS[flood]?.(response);
      });

      expect(await engine.bulkResults().catch(refusalOf)).toMatchObject({ code: "HTTP_200" });
    });
  },
);

test("a list of deleted records that is too long is left to a sweep", async () => {
  org.answer((response) => FLOODS["a bomb of gzip"]?.(response));

  expect(await engine.deleted().catch(refusalOf)).toMatchObject({ code: "TOO_LARGE", kind: "replication" });
});

test("what is just short enough is read whole, and its characters too where a piece ends within one", async () => {
  const name = "ü".repeat(4_000_000 - 100);
  const body = Buffer.from(JSON.stringify({ records: [{ Id: "1", Name: name }], done: true }));
  org.answer((response) => {
    for (let at = 0; at < body.length; at += 65_535) response.write(body.subarray(at, at + 65_535));
    response.end();
  });

  expect((await salesforce().query("SELECT Id FROM Account")).records).toEqual([{ Id: "1", Name: name }]);
});

/** A save's answer of 200 bytes and what is repeated in it. */
const answered = (inside: string) =>
  `<?xml version="1.0"?><s:Envelope xmlns:s="e"><s:Body><updateResponse>${inside}</updateResponse></s:Body></s:Envelope>`;

const MANY = 1_500_000;
const SAVES: readonly (readonly [string, string])[] = [
  "&",
  "<",
  "<a>",
  "</b>",
  "<a/>",
  "<result/>",
  "<![CDATA[",
  "<![CDATA[]]>",
  "<!---->",
  "<!--",
  "&amp;",
  "&#65;",
  "&a;",
  "<a b='c'",
  "<?a?>",
  "]]>",
  "<result><success>true</success></result>",
  " ",
  "a",
].map((piece) => [piece, answered(piece.repeat(MANY / piece.length))] as const);
const NESTED: readonly (readonly [string, string])[] = [
  ["elements in each other", answered("<a>".repeat(200_000) + "</a>".repeat(200_000))],
  ["elements that others close", answered("<a>".repeat(20_000) + "</b>".repeat(20_000))],
  [
    "entities of entities",
    `<!DOCTYPE a [<!ENTITY a "bbbb"><!ENTITY c "&a;&a;&a;&a;">]>${answered("&c;".repeat(100_000))}`,
  ],
  ["ever new attributes", answered(`<result ${Array.from({ length: 100_000 }, (_, at) => `a${at}="b"`).join(" ")}/>`)],
  [
    "ever new elements",
    answered(`<result>${Array.from({ length: 100_000 }, (_, at) => `<a${at}/>`).join("")}</result>`),
  ],
];

/** Processor time of one answer; a hang took minutes. */
const MOST_SECONDS = 15;

/** The gate takes one of each kind that a parser counts. */
const IN_GATE = ["<a>", "<![CDATA[", "&#65;", "elements that others close", "ever new attributes"];

test.each([...SAVES, ...NESTED].filter(([name]) => isWholeGrid || IN_GATE.includes(name)))(
  "a save that is answered with %s again and again is in doubt at once",
  async (_, body) => {
    org.answer((response) => response.writeHead(200, { "content-type": "text/xml" }).end(body));
    const before = process.cpuUsage();

    const found = String(await engine.write().catch((error: unknown) => error));
    const { user, system } = process.cpuUsage(before);

    expect(found.includes("more than 50000 tags")).toBe(body.split("<").length > 50_000);
    expect((user + system) / 1e6).toBeLessThan(MOST_SECONDS);
  },
);
