import type { Seen } from "./sequence.ts";

/** What a reader of both answers would stumble over: status, missing keys, other types, other error texts. */
export function differencesOf(ours: Seen | undefined, theirs: Seen | undefined): string[] {
  if (!ours || !theirs) return ["asked on one side only"];
  const status = ours.status === theirs.status ? [] : [`status ${ours.status}, theirs ${theirs.status}`];
  return [...status, ...compare("", ours.body, theirs.body)];
}

/** Error texts must be the same words; all other values need only be of the same kind. */
const WORDS = new Set(["errorCode", "statusCode", "message"]);

function compare(path: string, ours: unknown, theirs: unknown): string[] {
  if (Array.isArray(ours) && Array.isArray(theirs))
    return ours.length > 0 && theirs.length > 0 ? compare(`${path}[0]`, ours[0], theirs[0]) : [];
  if (isObject(ours) && isObject(theirs)) return compareObjects(path, ours, theirs);
  const key = path.slice(path.lastIndexOf(".") + 1);
  if (WORDS.has(key) && masked(ours) !== masked(theirs))
    return [`${path} ${JSON.stringify(masked(ours))}, theirs ${JSON.stringify(masked(theirs))}`];
  if (typeof ours === "string" && typeof theirs === "string" && ours.startsWith("<?xml"))
    return compareXml(ours, theirs);
  const isSameKind = ours === null || theirs === null || typeof ours === typeof theirs;
  return isSameKind ? [] : [`${path} is ${typeof ours}, theirs ${typeof theirs}`];
}

function compareObjects(path: string, ours: Record<string, unknown>, theirs: Record<string, unknown>): string[] {
  const missing = Object.keys(theirs)
    .filter((key) => !(key in ours))
    .map((key) => `${path}.${key} is missing`);
  const extra = Object.keys(ours)
    .filter((key) => !(key in theirs))
    .map((key) => `${path}.${key} is not theirs`);
  const inner = Object.keys(ours)
    .filter((key) => key in theirs)
    .flatMap((key) => compare(`${path}.${key}`, ours[key], theirs[key]));
  return [...missing, ...extra, ...inner];
}

/** The elements of both answers, in their order. */
function compareXml(ours: string, theirs: string): string[] {
  const names = (xml: string) => [...xml.matchAll(/<(?:\w+:)?(\w+)/g)].map(([, name]) => name).join(" ");
  return names(ours) === names(theirs) ? [] : [`elements ${names(ours)}, theirs ${names(theirs)}`];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Ids differ between any two orgs. */
function masked(value: unknown): unknown {
  return typeof value === "string" ? value.replace(/\b[a-zA-Z0-9]{15}(?:[A-Z0-5]{3})?\b/g, "<id>") : value;
}
