import { existsSync } from "node:fs";
import { join } from "node:path";
import { Annotations, RemovalPolicy, type Stack } from "aws-cdk-lib";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import type { Access } from "../model/resources.ts";
import { hasProductionRules } from "../model/stage.ts";
import { BridgeFunction } from "./bridge-function.ts";
import { type Grantable, grantAccess } from "./grant-access.ts";
import { idOf, nameIn, type Settings } from "./options/settings.ts";

/** A row of the route table or of the workers, as the deployment sees it. */
export interface Row {
  readonly name: string;
  readonly access: Access;
  readonly timeoutSeconds: number;
  readonly memoryMegabytes: number;
  readonly resends?: string | undefined;
}

/** What the functions of a stack have in common. */
export interface Surroundings {
  readonly settings: Settings;
  /** Where the bundles lie: one folder per function. */
  readonly bundles: string;
  readonly resources: Grantable;
  readonly logGroup: LogGroup;
}

/** The function of a row, with what the row grants; none while its bundle does not exist. */
export function makeFunction(stack: Stack, row: Row, surroundings: Surroundings): BridgeFunction | undefined {
  const { access, ...sizing } = row;
  const { settings, bundles, resources, logGroup } = surroundings;
  const folder = join(bundles, row.name);
  if (!existsSync(join(folder, "index.mjs"))) {
    Annotations.of(stack).addWarningV2(`bridge:no-bundle:${row.name}`, `${row.name} is left out: it has no bundle`);
    return undefined;
  }
  const made = new BridgeFunction(stack, { ...sizing, folder, settings, logGroup });
  grantAccess(made, access, resources);
  if ((access.postgres || access.org) && settings.network) made.enter(settings.network);
  return made;
}

/** Where a stack's functions write: `/bridge/bridge-dev-api`. */
export function logGroupOf(stack: Stack, name: string, settings: Settings): LogGroup {
  return new LogGroup(stack, `${idOf(name)}Logs`, {
    logGroupName: `/bridge/${nameIn(settings.stage, name)}`,
    retention: settings.logRetentionDays,
    removalPolicy: hasProductionRules(settings.stage)
      ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
      : RemovalPolicy.DESTROY,
  });
}
