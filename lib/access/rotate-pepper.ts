import { Failure } from "../model/failure.ts";
import { type AuditEntry, auditEntry } from "../model/workspace/audit.ts";
import { DEPLOYMENT } from "../model/workspace/pause.ts";
import { isValid } from "./authenticate.ts";
import { ensureDeployment } from "./bootstrap.ts";
import type { Pepper, TokenRecord, Workspaces } from "./ports.ts";

/** A token as it is kept under the former pepper. */
export interface FormerToken extends TokenRecord {
  readonly hash: string;
}

/** The former pepper, and what works by it alone. */
export interface FormerPepper {
  /** From when on the newer one is used. */
  readonly usedFrom: Date;
  readonly tokens: readonly FormerToken[];
  /** Workspaces whose doorbell's URL was given before, each with the time of that. */
  readonly doorbells: readonly { readonly workspaceId: string; readonly madeAt: Date }[];
}

/** The pepper as an operator changes it. */
export interface PepperRotation {
  /** Keeps the pepper as the former one, and another in its place; false: a former one is still kept. */
  rotate(usedFrom: Date, entry: AuditEntry): Promise<boolean>;
  /** Null: none is kept. */
  findFormer(): Promise<FormerPepper | null>;
  /** Revokes a token if it is still kept under the former pepper. */
  revokeFormer(token: FormerToken, entry: AuditEntry): Promise<boolean>;
  /** Deletes the former pepper of this rotation. */
  end(usedFrom: Date, entry: AuditEntry): Promise<boolean>;
}

interface Needs {
  readonly pepper: Pick<Pepper, "readOrCreate">;
  readonly rotation: PepperRotation;
  readonly workspaces: Pick<Workspaces, "find" | "create">;
}

interface By {
  readonly actor: string;
  readonly at: Date;
}

/** Announces another pepper, used from `usedFrom` on: tokens move to it as they are used. */
export async function rotatePepper(needs: Needs, { usedFrom, ...by }: By & { usedFrom: Date }): Promise<void> {
  await ensureDeployment(needs.workspaces, by.actor, by.at);
  await needs.pepper.readOrCreate();
  const entry = entryOf(by, "pepper.rotated", { used_from: usedFrom.toISOString() });
  if (await needs.rotation.rotate(usedFrom, entry)) return;
  throw new Failure(
    "CONFLICT",
    "the former pepper is still kept: see what works by it alone, and end it, with bridge operator rotate-pepper --finish",
  );
}

/**
 * Ends the former pepper, and first the tokens that are kept under it: they are revoked, so that no list shows them as
 * valid. A token that moves meanwhile stays. Interrupted anywhere, the same call ends it. Gives the revoked tokens.
 */
export async function endFormerPepper(
  { rotation, workspaces }: Pick<Needs, "rotation" | "workspaces">,
  { actor, at }: By,
): Promise<readonly TokenRecord[]> {
  const former = await findFormerPepper({ rotation }, at);
  await ensureDeployment(workspaces, actor, at);
  const revoked: TokenRecord[] = [];
  for (const token of former.tokens) {
    const entry = auditEntry({ workspaceId: token.workspaceId, actor, at }, "token.revoked", token.id, {
      ...{ name: token.name, owner: token.owner, reason: "the former pepper was ended" },
    });
    if (await rotation.revokeFormer(token, entry)) revoked.push(token);
  }
  await rotation.end(
    former.usedFrom,
    entryOf({ actor, at }, "pepper.former_ended", { tokens_revoked: revoked.length }),
  );
  return revoked;
}

/** What works by the former pepper alone. Refuses where none is kept, and until the newer one is used. */
export async function findFormerPepper({ rotation }: Pick<Needs, "rotation">, at: Date): Promise<FormerPepper> {
  const former = await rotation.findFormer();
  if (former === null)
    throw new Failure("CONFLICT", "no former pepper is kept: bridge operator rotate-pepper begins a rotation");
  if (former.usedFrom <= at) return { ...former, tokens: former.tokens.filter((token) => isValid(token, at)) };
  const from = former.usedFrom.toISOString();
  throw new Failure(
    "CONFLICT",
    `the new pepper is used from ${from} on; end the former one when its tokens have been used since`,
  );
}

const entryOf = (
  by: By,
  action: "pepper.rotated" | "pepper.former_ended",
  detail: Record<string, unknown>,
): AuditEntry => auditEntry({ workspaceId: DEPLOYMENT, ...by }, action, "token-pepper", detail);
