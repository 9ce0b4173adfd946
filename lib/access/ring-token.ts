import { createHmac, timingSafeEqual } from "node:crypto";
import { base62 } from "../model/id.ts";
import { auditEntry, type Doing } from "../model/workspace/audit.ts";
import type { Doorbells, DoorbellUrl, Pepper, PepperKey } from "./ports.ts";

/** What a ring token looks like: `ring_` and 43 base-62 digits. It wakes pulls of its workspace, and opens nothing. */
const RING_TOKEN = /^ring_[0-9A-Za-z]{43}$/;

/** The token before a rotation still rings for so long, for messages under way and orgs that are not changed yet. */
const FORMER_MILLISECONDS = 24 * 3_600_000;

/** Derived from the service's own secret, so that it is kept nowhere; a workspace's tokens are numbered from 1. */
function ringToken({ key }: PepperKey, workspaceId: string, number: number): string {
  const digest = createHmac("sha256", key).update(`ring ${workspaceId} ${number}`).digest();
  return `ring_${base62(digest, 43)}`;
}

interface Needs {
  readonly doorbells: Doorbells;
  readonly pepper: Pepper;
}

/**
 * The token of a workspace's doorbell, created where there is none; `rotates`: another one in its place. After a rotation
 * of the pepper it is another one as well, and the one before rings until an operator ends the former pepper.
 */
export async function takeRingToken(
  { doorbells, pepper }: Needs,
  { rotates, ...by }: Doing & { readonly rotates: boolean },
): Promise<{ readonly token: string; readonly formerUntil: Date | null }> {
  const { workspaceId, at } = by;
  const [before, current] = await Promise.all([doorbells.read(workspaceId), pepper.readOrCreate()]);
  let url = before;
  if (before.madeAt === null || rotates || before.pepper !== current.number) {
    const isNew = before.madeAt === null || rotates;
    const formerUntil = isNew ? before.madeAt && new Date(at.getTime() + FORMER_MILLISECONDS) : before.formerUntil;
    url = { number: before.number + Number(isNew), madeAt: at, formerUntil, pepper: current.number };
    const action = before.madeAt === null ? "doorbell.created" : "doorbell.rotated";
    await doorbells.set(workspaceId, url, auditEntry(by, action, workspaceId, {}));
  }
  return { token: ringToken(current, workspaceId, url.number), formerUntil: url.formerUntil };
}

/** Takes the doorbell away: no token rings any more. Harmless when there is none. */
export async function removeRingToken(doorbells: Doorbells, by: Doing): Promise<void> {
  const url = await doorbells.read(by.workspaceId);
  if (url.madeAt === null) return;
  const entry = auditEntry(by, "doorbell.removed", by.workspaceId, {});
  await doorbells.set(by.workspaceId, { ...url, madeAt: null, formerUntil: null }, entry);
}

/** Whether this token rings at this workspace's door. */
export async function mayRing(
  { doorbells, pepper }: { readonly doorbells: Pick<Doorbells, "read">; readonly pepper: Pepper },
  { workspaceId, token, at }: { readonly workspaceId: string; readonly token: string; readonly at: Date },
): Promise<boolean> {
  if (!RING_TOKEN.test(token)) return false;
  const numbers = numbersOf(await doorbells.read(workspaceId), at);
  const peppers = numbers.length > 0 ? await pepper.read() : null;
  const isSame = (number: number, key: PepperKey | null | undefined) =>
    key && timingSafeEqual(Buffer.from(ringToken(key, workspaceId, number)), Buffer.from(token));
  return numbers.some((number) => isSame(number, peppers?.current) || isSame(number, peppers?.other));
}

function numbersOf({ number, madeAt, formerUntil }: DoorbellUrl, at: Date): readonly number[] {
  if (madeAt === null) return [];
  return formerUntil && formerUntil > at ? [number, number - 1] : [number];
}
