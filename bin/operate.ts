import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Vault } from "../lib/access/ports.ts";
import type { Database } from "../lib/adapters/dynamodb/client/client.ts";
import { CommandFailure, type ExitKind } from "../lib/cli/failure.ts";
import type { OpenOperator } from "../lib/cli/operator.ts";
import { nameIn } from "../lib/infra/options/settings.ts";
import { Failure, type FailureCode } from "../lib/model/failure.ts";
import { TABLES, type TableName, tableVariable } from "../lib/model/resources.ts";
import { STAGE_NAME, STAGE_NAME_IN_WORDS } from "../lib/model/stage.ts";
import { auditEntry } from "../lib/model/workspace/audit.ts";
import { DEPLOYMENT } from "../lib/model/workspace/pause.ts";
import { failureOf } from "../lib/sync/report/cycle-failure.ts";

/**
 * Opens the deployment's own tables with the caller's credentials: the stage's in AWS (the SDK finds region and
 * credentials), or those of the instance on this machine, which lists them in `<data dir>/operator.json`.
 */
export const openOperator: OpenOperator = async ({ stage, dataDir }) => {
  Object.assign(process.env, stage === null ? localEnvironment(dataDir) : stageEnvironment(stage));
  const { auditLog, counters, database, engineReports, freshVault, mappings, now, pepper, ...composed } =
    await inItsWords(import("../functions/services/composition.ts"));
  const { tokens, vault, workspaces } = composed;
  const { createWorkspace, ensureDeployment } = await import("../lib/access/bootstrap.ts");
  const needs = { workspaces: workspaces(), tokens: tokens(), pepper: pepper() };
  const rotation = async () => {
    const { pepperRotation } = await import("../lib/adapters/dynamodb/access/pepper-rotation.ts");
    return pepperRotation(database(), vault());
  };
  return {
    createWorkspace: async ({ name, owner, withOrgOf }) => {
      const like = withOrgOf === undefined ? null : await needs.workspaces.find(withOrgOf);
      const salesforce = (await like?.open())?.salesforce ?? null;
      const asked = { name, ownerEmail: owner, postgres: null, salesforce, at: now() };
      const { workspace, token } = await inItsWords(createWorkspace(needs, asked));
      return { workspaceId: workspace.id, token };
    },
    createToken: async (owner) => {
      const { createToken, emailAddress } = await import("../lib/access/create-token.ts");
      const [actor, at] = [await inItsWords((async () => emailAddress(owner))()), now()];
      await ensureDeployment(needs.workspaces, actor, at);
      const asked = { workspaceId: DEPLOYMENT, name: "operator", owner: actor, actor, validUntil: null, at };
      return { workspaceId: DEPLOYMENT, token: (await createToken(needs, { ...asked, scopes: ["admin"] })).token };
    },
    listWorkspaces: async () => {
      const { readFleet } = await import("../lib/settings/workspaces/fleet.ts");
      const kept = { counters: counters(), engine: engineReports(), mappings: mappings() };
      return readFleet({ ...kept, workspaces: needs.workspaces });
    },
    switchPause: async ({ paused, actor, reason }) => {
      const { switchPause } = await import("../lib/sync/beat/pauses.ts");
      await ensureDeployment(needs.workspaces, actor, now());
      const to = { paused, at: now(), by: actor, reason };
      const { pauseSwitch } = await switchPause(needs, DEPLOYMENT, to);
      const is = pauseSwitch ?? to;
      return { ...is, at: is.at.toISOString() };
    },
    rotatePepper: async (actor) => {
      const { ANNOUNCED_MILLISECONDS } = await import("../lib/adapters/dynamodb/access/pepper.ts");
      const { rotatePepper } = await import("../lib/access/rotate-pepper.ts");
      const usedFrom = new Date(now().getTime() + ANNOUNCED_MILLISECONDS);
      await inItsWords(rotatePepper({ ...needs, rotation: await rotation() }, { actor, at: now(), usedFrom }));
      return { used_from: usedFrom.toISOString() };
    },
    findFormer: async () => {
      const { findFormerPepper } = await import("../lib/access/rotate-pepper.ts");
      const { tokens, doorbells } = await inItsWords(findFormerPepper({ rotation: await rotation() }, now()));
      return {
        tokens: tokens.map(({ id, name, owner, workspaceId, lastUsedAt }) => ({
          ...{ id, name, owner, workspace_id: workspaceId, last_used_at: lastUsedAt?.toISOString() ?? null },
        })),
        doorbells: doorbells.map(({ workspaceId, madeAt }) => ({
          ...{ workspace_id: workspaceId, created_at: madeAt.toISOString() },
        })),
      };
    },
    endFormer: async (actor) => {
      const { endFormerPepper } = await import("../lib/access/rotate-pepper.ts");
      const ending = endFormerPepper({ ...needs, rotation: await rotation() }, { actor, at: now() });
      return { tokens_revoked: (await inItsWords(ending)).length };
    },
    reseal: async ({ actor, onProgress }) => {
      const { resealAll } = await import("../lib/adapters/dynamodb/access/reseal.ts");
      await ensureDeployment(needs.workspaces, actor, now());
      const { resealed, remaining } = await resealAll({ database: database(), vault: freshVault(), now, onProgress });
      const detail = { resealed, remaining: remaining.length };
      const by = { workspaceId: DEPLOYMENT, actor, at: now() };
      await auditLog().append(auditEntry(by, "secrets.resealed", DEPLOYMENT, detail));
      return {
        resealed,
        remaining: remaining.map(({ workspaceId, ...why }) => ({ workspace_id: workspaceId, ...why })),
      };
    },
    describeRemoval: async (workspaceId) => {
      const { describeRemoval } = await import("../lib/access/remove-workspace.ts");
      const removal = await removalNeeds(database(), vault());
      return inItsWords(describeRemoval(removal, workspaceId));
    },
    removeWorkspace: async ({ workspaceId, actor, leaveDatabase }) => {
      const { removeWorkspace } = await import("../lib/access/remove-workspace.ts");
      const removal = await removalNeeds(database(), vault());
      return inItsWords(removeWorkspace(removal, { workspaceId, actor, leaveDatabase, at: now() }));
    },
  };
};

/** What a room refuses, and a database that cannot be reached, in the command line's own kinds. */
async function inItsWords<Answer>(work: Promise<Answer>): Promise<Answer> {
  try {
    return await work;
  } catch (cause) {
    if (cause instanceof Failure) {
      throw new CommandFailure(KINDS[cause.code] ?? "invalid", cause.message, { code: cause.code, cause });
    }
    const { reason, message } = failureOf(cause);
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
    const isKeptOut = !/^[0-9A-Z]{5}$/.test(code) || /^(28|3D)/.test(code);
    if (reason !== "postgres_unavailable" || !isKeptOut) throw cause;
    const opened = code === "EHOSTREFUSED" ? "; for this command OPENED_RANGES in the environment opens one" : "";
    const remedy = "repeat the command when it is back, or leave it as it is with --leave-database";
    throw new CommandFailure(
      "unreachable",
      `the workspace's database cannot be reached (${message}${opened}): ${remedy}`,
      { cause },
    );
  }
}

const KINDS: Partial<Record<FailureCode, ExitKind>> = { WORKSPACE_NOT_FOUND: "notFound", CONFLICT: "conflict" };

async function removalNeeds(database: Database, vault: Vault) {
  const { workspaceRemoval } = await import("../lib/adapters/dynamodb/access/workspace-removal.ts");
  const { customerSchema } = await import("../lib/adapters/postgres/schema/clear-schema.ts");
  const { scheduleRemoval } = await import("../lib/adapters/scheduler/schedules.ts");
  return {
    removal: workspaceRemoval(database, vault),
    schedules: scheduleRemoval(process.env["SCHEDULE_GROUP"] ?? ""),
    schema: customerSchema,
  };
}

function stageEnvironment(stage: string): Readonly<Record<string, string>> {
  if (!STAGE_NAME.test(stage)) throw new CommandFailure("usage", `--stage must be ${STAGE_NAME_IN_WORDS}`);
  const tables = (Object.keys(TABLES) as TableName[]).map((name) => [tableVariable(name), nameIn(stage, name)]);
  return {
    ...Object.fromEntries(tables),
    KEY_ID: `alias/bridge-${stage}`,
    STAGE: stage,
    SCHEDULE_GROUP: `bridge-${stage}`,
  };
}

function localEnvironment(dataDir: string): Readonly<Record<string, string>> {
  const file = join(dataDir, "operator.json");
  if (!existsSync(file)) {
    throw new CommandFailure(
      "notSignedIn",
      `no instance runs on this machine (${file} is not there): start one with npm start, or name a stage with --stage`,
    );
  }
  return (JSON.parse(readFileSync(file, "utf8")) as { environment: Record<string, string> }).environment;
}
