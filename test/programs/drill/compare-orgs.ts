import { type Door, type Seen, sweepUp } from "./door.ts";
import { askEngine, newMark, versionOf } from "./engine.ts";

/** What was asked of two orgs, and every difference between their answers, a line each. */
export interface Report {
  readonly steps: number;
  readonly differences: readonly string[];
  /** What could not be compared, and why. */
  readonly notes: readonly string[];
}

/** Asks both by every method of the engine's client. What it makes it deletes again. */
export async function compareOrgs(ours: Door, theirs: Door): Promise<Report> {
  const [version, mark] = [await versionOf(theirs), newMark()];
  // Where one fails the other comes to its end first, so that nothing is created after the cleanup.
  const asked = [ours, theirs].map((door) => askEngine(door, version, mark));
  try {
    await Promise.allSettled(asked);
    const [our, their] = (await Promise.all(asked)) as [Heard, Heard];
    // Without an external id there, nothing is saved by one; what then is asked of ours alone is no difference.
    const hasNoKey = our.key !== null && their.key === null;
    const names = [...new Set([...our.seen.keys(), ...their.seen.keys()])].filter(
      (name) => !hasNoKey || (our.seen.has(name) && their.seen.has(name)),
    );
    const differences = names.flatMap((name) =>
      differencesOf(our.seen.get(name), their.seen.get(name)).map((difference) => `${name}: ${difference}`),
    );
    const unasked = our.unasked.map((method) => `the drill never asks ${method} of the engine's client`);
    const notes = hasNoKey ? ["not compared: saves by an external id, for Account there has no unique one"] : [];
    return { steps: names.length, differences: [...differences, ...unasked], notes };
  } finally {
    await Promise.all([ours, theirs].map(emptied));
  }
}

type Heard = Awaited<ReturnType<typeof askEngine>>;

async function emptied(door: Door): Promise<void> {
  const left = await sweepUp(door);
  if (left.length > 0) throw new Error(`these records could not be deleted from ${door.url}: ${left.join(", ")}`);
}

/**
 * What the engine would stumble over in two answers about the same records: status, missing keys, other types, other error
 * texts, and other values of what it decides by and of what the drill has saved.
 */
function differencesOf(ours: Seen | undefined, theirs: Seen | undefined): readonly string[] {
  if (!ours || !theirs) return [`asked ${ours ? "of ours" : "of theirs"} only`];
  const status = ours.status === theirs.status ? [] : [`status ${inWords(ours)}, theirs ${inWords(theirs)}`];
  return [...status, ...differences("", ours.body, theirs.body)];
}

/** A refusal says why on its own: the other side has no such text to differ from. */
const inWords = ({ status, body }: Seen): string =>
  status === "refused" ? `refused ${JSON.stringify(body)}` : `${status}`;

/** Must be the same; all other values need only be of the same kind. */
const EXACT: ReadonlySet<string> = new Set([
  ..."errorCode statusCode message".split(" "),
  ..."kind code mayHaveRun success created complete state parts sf__Created sf__Error".split(" "),
  ..."type unique createable updateable nillable filterable externalId idLookup queryable relationshipName".split(" "),
  ..."Name AnnualRevenue NumberOfEmployees Description Website IsDeleted MasterRecordId".split(" "),
  ..."LastName Email Title Birthdate HasOptedOutOfEmail".split(" "),
]);

function differences(path: string, ours: unknown, theirs: unknown): readonly string[] {
  if (Array.isArray(ours) && Array.isArray(theirs)) {
    if (ours.length !== theirs.length) return [`${path} has ${ours.length} entries, theirs ${theirs.length}`];
    return ours.flatMap((one, at) => differences(`${path}[${at}]`, one, theirs[at]));
  }
  if (isObject(ours) && isObject(theirs)) {
    const missing = Object.keys(theirs).filter((key) => !(key in ours));
    const [shared, extra] = [true, false].map((isShared) =>
      Object.keys(ours).filter((key) => key in theirs === isShared),
    );
    return [
      ...missing.map((key) => `${path}.${key} is missing`),
      ...(extra ?? []).map((key) => `${path}.${key} is not theirs`),
      ...(shared ?? []).flatMap((key) => differences(`${path}.${key}`, ours[key], theirs[key])),
    ];
  }
  const [our, their] = [masked(ours), masked(theirs)];
  if (EXACT.has(path.slice(path.lastIndexOf(".") + 1)))
    return our === their ? [] : [`${path} ${JSON.stringify(our)}, theirs ${JSON.stringify(their)}`];
  const isSameKind = ours === null || theirs === null || typeof ours === typeof theirs;
  return isSameKind ? [] : [`${path} is ${typeof ours}, theirs ${typeof theirs}`];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Ids differ between any two orgs. */
function masked(value: unknown): unknown {
  return typeof value === "string" ? value.replace(/\b[a-zA-Z0-9]{15}(?:[A-Z0-5]{3})?\b/g, "<id>") : value;
}
