import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { Failure } from "../model/failure.ts";
import type { Answer } from "./answer.ts";
import { type GatewayEvent, header } from "./request.ts";

/** The built files of the console by path: `index.html`, `assets/index-5fK2.js`. */
export type Site = ReadonlyMap<string, Uint8Array>;

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  woff2: "font/woff2",
};

/** Files that are compressed already. */
const COMPRESSED = ["woff2"];

/** Nothing is run, styled or asked but what this origin serves; nobody may put the console into a frame. */
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

/** An asset's name holds a digest of its content, so it never changes; the page names them, so it is asked for each time. */
const CACHING = { page: "no-cache", asset: "public, max-age=31536000, immutable" };

/** Answers a request with a file of the console: 304 when the browser has it, `NOT_FOUND` when there is none. */
export function answerFile(site: Site, event: GatewayEvent): Answer {
  const name = event.pathParameters?.["file"];
  const path = name === undefined ? "index.html" : `assets/${name}`;
  const file = site.get(path);
  if (!file) throw new Failure("NOT_FOUND", `the console has no file ${path}; load the page anew`);
  const content = name === undefined ? withBase(file, event) : file;
  const headers = {
    ...GUARDS,
    ETag: etagOf(content),
    "Cache-Control": name === undefined ? CACHING.page : CACHING.asset,
  };
  if (header(event, "if-none-match") === headers.ETag) return { statusCode: 304, headers, body: Readable.from([]) };
  return compressed(path, content, headers, header(event, "accept-encoding") ?? "");
}

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
 * The page with its own address as base, so that relative addresses hold with and without a slash at the end: the stage
 * on the gateway's own domain (`/dev/`), the base path of a custom one, or `/`.
 */
function withBase(page: Uint8Array, { requestContext }: GatewayEvent): Uint8Array {
  const asked = `${requestContext?.path ?? ""}`.replace(/\/*$/, "/");
  const base = /^(\/[\w.~-]+)*\/$/.test(asked) ? asked : "/";
  return Buffer.from(Buffer.from(page).toString("utf8").replace("<head>", `<head>\n    <base href="${base}" />`));
}

const etagOf = (content: Uint8Array): string =>
  `"${createHash("sha256").update(content).digest("base64url").slice(0, 22)}"`;
