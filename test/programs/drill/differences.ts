import type { Seen } from "./door.ts";

/** What a reader of both answers would stumble over: status, missing keys, other types, other error texts. */
export function differencesOf(ours: Seen | undefined, theirs: Seen | undefined): readonly string[] {
  return differences(ours, theirs, new Comparison(new Set(WORDS)));
}

/**
 * The same of what the engine's client got, which speaks of the same records on both sides: they are compared one by
 * one, and what was saved in them must be the same.
 */
export function engineDifferencesOf(ours: Seen | undefined, theirs: Seen | undefined): readonly string[] {
  return differences(ours, theirs, new Comparison(new Set([...WORDS, ...VALUES]), { isOfSameRecords: true }));
}

function differences(ours: Seen | undefined, theirs: Seen | undefined, comparison: Comparison): readonly string[] {
  if (!ours || !theirs) return [`asked ${ours ? "of ours" : "of theirs"} only`];
  const status = ours.status === theirs.status ? [] : [`status ${inWords(ours)}, theirs ${inWords(theirs)}`];
  return [...status, ...comparison.of("", ours.body, theirs.body)];
}

/** A refusal says why on its own: the other side has no such text to differ from. */
const inWords = ({ status, body }: Seen): string =>
  status === "refused" ? `refused ${JSON.stringify(body)}` : `${status}`;

/** Error texts must be the same words; all other values need only be of the same kind. */
const WORDS = ["errorCode", "statusCode", "message"];

/** What the engine decides by, and what the drill has saved. */
const VALUES = [
  ..."kind code mayHaveRun success created complete state parts sf__Created sf__Error".split(" "),
  ..."type unique createable updateable nillable filterable externalId idLookup queryable relationshipName".split(" "),
  ..."Name AnnualRevenue NumberOfEmployees Description Website IsDeleted MasterRecordId".split(" "),
  ..."LastName Email Title Birthdate HasOptedOutOfEmail".split(" "),
];

class Comparison {
  readonly #exact: ReadonlySet<string>;
  readonly #isOfSameRecords: boolean;

  constructor(exact: ReadonlySet<string>, { isOfSameRecords = false } = {}) {
    this.#exact = exact;
    this.#isOfSameRecords = isOfSameRecords;
  }

  of(path: string, ours: unknown, theirs: unknown): readonly string[] {
    if (Array.isArray(ours) && Array.isArray(theirs)) return this.#lists(path, ours, theirs);
    if (isObject(ours) && isObject(theirs)) return this.#objects(path, ours, theirs);
    const key = path.slice(path.lastIndexOf(".") + 1);
    if (this.#exact.has(key) && masked(ours) !== masked(theirs))
      return [`${path} ${JSON.stringify(masked(ours))}, theirs ${JSON.stringify(masked(theirs))}`];
    if (typeof ours === "string" && typeof theirs === "string" && ours.startsWith("<?xml"))
      return compareXml(ours, theirs);
    const isSameKind = ours === null || theirs === null || typeof ours === typeof theirs;
    return isSameKind ? [] : [`${path} is ${typeof ours}, theirs ${typeof theirs}`];
  }

  /** Of lists that no drill has made, only the first entries can be compared. */
  #lists(path: string, ours: readonly unknown[], theirs: readonly unknown[]): readonly string[] {
    if (!this.#isOfSameRecords)
      return ours.length > 0 && theirs.length > 0 ? this.of(`${path}[0]`, ours[0], theirs[0]) : [];
    if (ours.length !== theirs.length) return [`${path} has ${ours.length} entries, theirs ${theirs.length}`];
    return ours.flatMap((one, at) => this.of(`${path}[${at}]`, one, theirs[at]));
  }

  #objects(path: string, ours: Record<string, unknown>, theirs: Record<string, unknown>): readonly string[] {
    const missing = Object.keys(theirs)
      .filter((key) => !(key in ours))
      .map((key) => `${path}.${key} is missing`);
    const extra = Object.keys(ours)
      .filter((key) => !(key in theirs))
      .map((key) => `${path}.${key} is not theirs`);
    const inner = Object.keys(ours)
      .filter((key) => key in theirs)
      .flatMap((key) => this.of(`${path}.${key}`, ours[key], theirs[key]));
    return [...missing, ...extra, ...inner];
  }
}

/** The elements of both answers, in their order. */
function compareXml(ours: string, theirs: string): readonly string[] {
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
