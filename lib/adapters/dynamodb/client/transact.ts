import { setTimeout as pause } from "node:timers/promises";
import type { TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import {
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
  type UpdateCommandInput,
} from "@aws-sdk/lib-dynamodb";
import type { TableName } from "../../../model/resources.ts";
import { retry } from "../../retry.ts";
import type { Database } from "./client.ts";

export type Write = NonNullable<TransactWriteCommandInput["TransactItems"]>[number];

/** A condition of a transaction did not hold; nothing was written. `positions` are those of the writes that refused. */
export class ConditionFailed extends Error {
  readonly positions: readonly number[];

  constructor(positions: readonly number[], cause: unknown) {
    super(`the conditions of writes ${positions.join(", ")} did not hold`, { cause });
    this.name = "ConditionFailed";
    this.positions = positions;
  }
}

const ATTEMPTS = 12;

/**
 * Writes all or nothing. A clash with another transaction over the same items is tried again with growing, jittered
 * pauses (about 4 s in all); a condition that does not hold rejects with `ConditionFailed`.
 */
export async function transact(database: Database, writes: readonly Write[]): Promise<void> {
  const write = () => database.client.send(new TransactWriteCommand({ TransactItems: [...writes] }));
  try {
    await retry(ATTEMPTS, isClash, write, jitteredPause);
  } catch (error) {
    const refused = positionsOf(cancellationReasons(error), "ConditionalCheckFailed");
    throw refused.length > 0 ? new ConditionFailed(refused, error) : error;
  }
}

/** Waits a random time up to 10 ms doubled per attempt, at most 800 ms. */
export function jitteredPause(attempt: number): Promise<void> {
  return pause(Math.random() * Math.min(800, 10 * 2 ** attempt));
}

function cancellationReasons(error: unknown): readonly string[] {
  if (!(error instanceof Error) || error.name !== "TransactionCanceledException") return [];
  return ((error as TransactionCanceledException).CancellationReasons ?? []).map((reason) => reason.Code ?? "None");
}

function positionsOf(reasons: readonly string[], code: string): readonly number[] {
  return reasons.flatMap((reason, position) => (reason === code ? [position] : []));
}

/** All errors pass on their own. */
function isClash(error: unknown): boolean {
  const reasons = cancellationReasons(error);
  const passing = new Set(["None", "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"]);
  return reasons.some((reason) => reason !== "None") && reasons.every((reason) => passing.has(reason));
}

/** Updates an item, and gives what `ReturnValues` asks for; null: its condition did not hold, and nothing was written. */
export async function updateIf(
  { client, table }: Database,
  name: TableName,
  update: Omit<UpdateCommandInput, "TableName">,
): Promise<Readonly<Record<string, unknown>> | null> {
  try {
    return (await client.send(new UpdateCommand({ ...update, TableName: table(name) }))).Attributes ?? {};
  } catch (error) {
    if (isConditionFailed(error)) return null;
    throw error;
  }
}

/** Whether a single write was refused because its condition did not hold. */
export function isConditionFailed(error: unknown): boolean {
  return error instanceof Error && error.name === "ConditionalCheckFailedException";
}
