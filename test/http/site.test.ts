import { Readable } from "node:stream";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { Answer } from "../../lib/http/answer.ts";
import type { GatewayEvent } from "../../lib/http/request.ts";
import { answerFile, type Site } from "../../lib/http/site.ts";

const PAGE = '<!doctype html><html><head><script src="./assets/index-1.js"></script></head></html>';
const SITE: Site = new Map([
  ["index.html", Buffer.from(PAGE)],
  ["docs/index.html", Buffer.from("<head></head>All pages")],
  ["docs/rows.html", Buffer.from("<head></head>Rows")],
  ["assets/index-1.js", Buffer.from("console.log('here')")],
  ["assets/geist.woff2", Buffer.from([0, 255, 17])],
]);

describe("the console's page", () => {
  test.each([
    ["/dev", "/dev/"],
    ["/dev/", "/dev/"],
    ["/", "/"],
    [undefined, "/"],
    ['/"><script>', "/"],
    ["//elsewhere.example/", "/"],
  ])("asked for at %s names %s as its base, so that what it loads is found", async (path, base) => {
    const answer = answerTo({ requestContext: path === undefined ? {} : { path } });

    expect(await textOf(answer)).toContain(`<head>\n    <base href="${base}" />`);
  });

  test("is asked for each time, and not sent again while it is the same", () => {
    const first = answerTo();
    const again = answerTo({ headers: { "if-none-match": first.headers["ETag"] } });

    expect(first).toMatchObject({ statusCode: 200, headers: { "Cache-Control": "no-cache" } });
    expect(again.statusCode).toBe(304);
  });

  test("may load, run and ask nothing but its own origin", () => {
    const { headers } = answerTo();

    expect(headers["Content-Security-Policy"]).toContain("default-src 'none'; script-src 'self'; style-src 'self';");
    expect(headers["Content-Security-Policy"]).not.toContain("unsafe");
  });
});

describe("the documentation", () => {
  test.each([
    ["/dev/docs", undefined, "/dev/docs/", "All pages"],
    ["/docs/", undefined, "/docs/", "All pages"],
    ["/dev/docs/rows", "rows", "/dev/docs/", "Rows"],
    ["/docs/rows", "rows", "/docs/", "Rows"],
    ["/docs/rows/", "rows", "/docs/", "Rows"],
    ["//docs/rows", "rows", "/docs/", "Rows"],
    ["/dev//docs/rows/", "rows", "/dev/docs/", "Rows"],
    ["//docs/", undefined, "/docs/", "All pages"],
  ])("is answered at %s, with the folder as its base", async (path, page, base, text) => {
    const resource = page === undefined ? "/docs" : "/docs/{page}";
    const answer = answerTo({
      resource,
      requestContext: { path },
      pathParameters: page === undefined ? null : { page },
    });

    expect(answer.headers).toMatchObject({ "Cache-Control": "no-cache", "Content-Type": "text/html; charset=utf-8" });
    expect(await textOf(answer)).toBe(`<head>\n    <base href="${base}" /></head>${text}`);
  });

  test("refuses a page that is not there and says where the list is", () => {
    const asked = { resource: "/docs/{page}", pathParameters: { page: "tows" } };

    expect(() => answerTo(asked)).toThrow("the documentation has no such page; its list is at /docs");
  });
});

describe("what the page loads", () => {
  test("is kept for good, because its name changes with its content", () => {
    const { headers } = answerTo({ pathParameters: { file: "index-1.js" } });

    expect(headers["Cache-Control"]).toBe("public, max-age=31536000, immutable");
    expect(headers["Content-Type"]).toBe("text/javascript; charset=utf-8");
  });

  test("comes compressed to who can read that, and as it is to all others", async () => {
    const plain = answerTo({ pathParameters: { file: "index-1.js" } });
    const packed = answerTo({ pathParameters: { file: "index-1.js" }, headers: { "accept-encoding": "br, gzip" } });

    expect(await textOf(plain)).toBe("console.log('here')");
    expect(packed.headers).toMatchObject({ "Content-Encoding": "gzip", Vary: "Accept-Encoding" });
    expect(gunzipSync(await bytesOf(packed)).toString()).toBe("console.log('here')");
  });

  test("keeps every byte of a font", async () => {
    const answer = answerTo({ pathParameters: { file: "geist.woff2" }, headers: { "accept-encoding": "gzip" } });

    expect(answer.headers["Content-Encoding"]).toBeUndefined();
    expect(await bytesOf(answer)).toEqual(Buffer.from([0, 255, 17]));
  });

  test("that is not there is refused in words", () => {
    expect(() => answerTo({ pathParameters: { file: "../package.json" } })).toThrow("reload the page");
  });
});

const answerTo = (asked: GatewayEvent = {}) => answerFile(SITE, { headers: {}, requestContext: {}, ...asked });

async function bytesOf({ body }: Answer): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of Readable.from(body)) chunks.push(chunk as Uint8Array);
  return Buffer.concat(chunks);
}

const textOf = async (answer: Answer): Promise<string> => (await bytesOf(answer)).toString("utf8");
