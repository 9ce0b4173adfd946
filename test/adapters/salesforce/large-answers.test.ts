import { expect, test } from "vitest";
import { orgReach } from "../../../lib/adapters/salesforce/org-reach.ts";
import { FLOODS } from "../../support/doubles/lying-org.ts";
import { orgConnection } from "../../support/doubles/org-calls.ts";
import { aLyingOrg, engine, org, refusalOf, salesforce } from "./lying.ts";

aLyingOrg();

/** Encodings that are not read at all, for they were not asked for. */
const OTHERS = /^a bomb of (?!gzip$)/;

// `npm run attack` tries every call with each of them.
test.each(Object.entries(FLOODS))(
  "%s is not read beyond the limit by health, of a refusal, whose status counts, and in the place of a file",
  async (name, flood) => {
    org.answer(flood);
    expect(await orgReach(() => new Date()).isReachable(orgConnection(org.url, "token"))).toBe(false);

    if (OTHERS.test(name)) return;
    org.answer((response) => flood(Object.assign(response, { statusCode: 401 })));
    expect(await refusalOf(engine.query())).toMatchObject({ code: "HTTP_401" });
    org.answer((response) => flood(response.setHeader("content-type", "text/html")));
    expect(await refusalOf(engine.bulkResults())).toMatchObject({ code: "HTTP_200" });
  },
);

test("a list of deleted records that is too long is left to a sweep", async () => {
  org.answer((response) => FLOODS["a bomb of gzip"]?.(response));

  expect(await refusalOf(engine.deleted())).toMatchObject({ code: "TOO_LARGE", kind: "replication" });
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

const repeated = (piece: string) => answered(piece.repeat(1_500_000 / piece.length));
const ever = (make: (at: number) => string) => Array.from({ length: 100_000 }, (_, at) => make(at)).join(" ");

/** One of each kind that a parser counts. */
const SAVES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(["<a>", "<![CDATA[", "&#65;", "<a b='c'", "<!--"].map((piece) => [piece, repeated(piece)])),
  "elements that others close": answered("<a>".repeat(20_000) + "</b>".repeat(20_000)),
  "entities of entities": `<!DOCTYPE a [<!ENTITY a "bbbb"><!ENTITY c "&a;&a;&a;&a;">]>${repeated("&c;")}`,
  "ever new attributes": answered(`<result ${ever((at) => `a${at}="b"`)}/>`),
  "ever new elements": answered(`<result>${ever((at) => `<a${at}/>`)}</result>`),
};

/** Processor time of one answer; a hang took minutes. */
const MOST_SECONDS = 15;

test.each(Object.entries(SAVES))(
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
