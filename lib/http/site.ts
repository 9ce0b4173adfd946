import { createHash } from "node:crypto";
import { posix } from "node:path";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { Failure } from "../model/failure.ts";
import type { Answer } from "./answer.ts";
import { type GatewayEvent, header } from "./request.ts";

/** The built files of the console, the documentation and the API's description by path: `index.html`, `docs/rows.html`, `assets/index-5fK2.js`. */
export type Site = ReadonlyMap<string, Uint8Array>;

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  json: "application/json",
  svg: "image/svg+xml",
  webp: "image/webp",
  woff2: "font/woff2",
};

/** Files that are compressed already. */
const COMPRESSED = ["webp", "woff2"];

/** Nothing is run, styled or asked but what this origin serves; the console may not be framed. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

const GUARDS = {
  "Content-Security-Policy": POLICY,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
};

/** For a page that is read: nothing but its own style may be loaded or run. */
const ITS_OWN_STYLE = {
  "Content-Security-Policy":
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};

/** Files that describe the API and load nothing, with what they say beyond the headers of every answer. */
const ALONE: Readonly<Record<string, Answer["headers"]>> = {
  "docs/errors.html": ITS_OWN_STYLE,
  "openapi.html": ITS_OWN_STYLE,
  "openapi.json": {},
};

/** An asset's name holds a digest of its content, so it never changes; the page names them, so it is asked for each time. */
const CACHING = { page: "no-cache", asset: "public, max-age=31536000, immutable" };

/** Answers a request with a file of the site: 304 when the browser has it, `NOT_FOUND` when there is none. */
export function answerFile(site: Site, event: GatewayEvent): Answer {
  const path = pathOf(event);
  const file = site.get(path);
  if (!file) throw new Failure("NOT_FOUND", refusalOf(path));
  const accepted = header(event, "accept-encoding") ?? "";
  const alone = ALONE[path];
  if (alone) return compressed(path, file, alone, accepted);
  const isPage = path.endsWith(".html");
  const content = isPage ? withBase(file, event) : file;
  const headers = {
    ...GUARDS,
    ETag: etagOf(content),
    "Cache-Control": isPage ? CACHING.page : CACHING.asset,
  };
  if (header(event, "if-none-match") === headers.ETag) return { statusCode: 304, headers, body: Readable.from([]) };
  return compressed(path, content, headers, accepted);
}

function pathOf({ resource = "/", pathParameters }: GatewayEvent): string {
  const { file, page } = pathParameters ?? {};
  if (file !== undefined) return `assets/${file}`;
  if (resource.startsWith("/docs")) return `docs/${page ?? "index"}.html`;
  if (resource.startsWith("/openapi")) return resource.endsWith(".json") ? "openapi.json" : "openapi.html";
  return "index.html";
}

const refusalOf = (path: string): string =>
  path.startsWith("docs/")
    ? "the documentation has no such page; its list is at /docs"
    : `the console has no file ${path}; reload the page`;

function compressed(path: string, content: Uint8Array, headers: Answer["headers"], accepted: string): Answer {
  const kind = path.split(".").at(-1) ?? "";
  const typed = { ...headers, "Content-Type": TYPES[kind] ?? "application/octet-stream" };
  if (COMPRESSED.includes(kind)) return { statusCode: 200, headers: typed, body: whole(content) };
  const varied = { ...typed, Vary: "Accept-Encoding" };
  if (!/\bgzip\b/.test(accepted)) return { statusCode: 200, headers: varied, body: whole(content) };
  return { statusCode: 200, headers: { ...varied, "Content-Encoding": "gzip" }, body: whole(zipped(content)) };
}

const whole = (content: Uint8Array): Readable => Readable.from([content]);

const kept = new WeakMap<Uint8Array, Uint8Array>();

/** Each file is compressed once for as long as the function lives. */
function zipped(content: Uint8Array): Uint8Array {
  const known = kept.get(content);
  if (known) return known;
  const made = gzipSync(content);
  kept.set(content, made);
  return made;
}

/**
 * The page with its folder's address as base, so that relative addresses hold with and without a slash at the end: the
 * stage on the gateway's own domain (`/dev/`), the base path of a custom one, or `/`; for the documentation `…/docs/`.
 */
function withBase(page: Uint8Array, { requestContext, pathParameters }: GatewayEvent): Uint8Array {
  const path = `${requestContext?.path ?? ""}`.replace(/(?<!\/)\/+(?=docs\b)/, "/");
  const asked = (pathParameters?.["page"] === undefined ? path : posix.dirname(path)).replace(/(?<!\/)\/*$/, "/");
  const base = /^(\/[\w.~-]+)*\/$/.test(asked) ? asked : "/";
  return Buffer.from(Buffer.from(page).toString("utf8").replace("<head>", `<head>\n    <base href="${base}" />`));
}

const etagOf = (content: Uint8Array): string =>
  `"${createHash("sha256").update(content).digest("base64url").slice(0, 22)}"`;
