import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CommandFailure } from "../lib/cli/failure.ts";
import type { OpenOperator } from "../lib/cli/operator.ts";
import { nameIn } from "../lib/infra/settings.ts";
import { Failure } from "../lib/model/failure.ts";
import { TABLES, type TableName, tableVariable } from "../lib/model/resources.ts";

/**
 * Opens the deployment's own tables with the credentials of whoever runs this: the stage's in AWS (the SDK finds region
 * and credentials), or those of the instance on this machine, which tells them in `<data dir>/operator.json`.
 */
export const openOperator: OpenOperator = async ({ stage, dataDir }) => {
  Object.assign(process.env, stage === null ? localEnvironment(dataDir) : stageEnvironment(stage));
  const { now, pepper, tokens, workspaces } = await import("../functions/composition.ts");
  const { createWorkspace } = await import("../lib/access/bootstrap.ts");
  const needs = { workspaces: workspaces(), tokens: tokens(), pepper: pepper() };
  return {
    createWorkspace: async ({ name, owner }) => {
      const asked = { name, ownerEmail: owner, postgres: null, salesforce: null, at: now() };
      const { workspace, token } = await createWorkspace(needs, asked).catch((error: unknown) => {
        if (error instanceof Failure) throw new CommandFailure("invalid", error.message, { code: error.code });
        throw error;
      });
      return { workspaceId: workspace.id, token };
    },
    listWorkspaces: async () =>
      (await needs.workspaces.list()).map(({ id, name, createdAt }) => ({
        id,
        name,
        created_at: createdAt.toISOString(),
      })),
  };
};

function stageEnvironment(stage: string): Readonly<Record<string, string>> {
  if (stage !== "dev" && stage !== "prod") throw new CommandFailure("usage", "--stage must be dev or prod");
  const tables = (Object.keys(TABLES) as TableName[]).map((name) => [tableVariable(name), nameIn(stage, name)]);
  return { ...Object.fromEntries(tables), KEY_ID: `alias/bridge-${stage}`, STAGE: stage };
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
