import type { MappingChange } from "../../../config/ports.ts";
import type { Mapping } from "../../../model/mapping/mapping.ts";
import type { Database } from "../client/client.ts";
import type { Write } from "../client/transact.ts";
import { writeMapping } from "./mapping-item.ts";

/** The writes of one change: the mapping, if it is still as it was, and its hold on an object and a table. */
export function writesOf(database: Database, { before, after }: MappingChange): readonly Write[] {
  return [putMapping(database, before, after), ...guards(database, before, after)];
}

function putMapping(database: Database, before: Mapping | null, after: Mapping): Write {
  return {
    Put: {
      TableName: database.table("mappings"),
      Item: writeMapping(after),
      ...(before === null
        ? { ConditionExpression: "attribute_not_exists(pk)" }
        : {
            ConditionExpression: "config_version = :before",
            ExpressionAttributeValues: { ":before": before.configVersion },
          }),
    },
  };
}

function guards(database: Database, before: Mapping | null, after: Mapping): readonly Write[] {
  const held = before === null || before.deletedAt !== null ? [] : guardKeys(before);
  const wanted = after.deletedAt === null ? guardKeys(after) : [];
  return [
    ...held.filter((key) => !wanted.includes(key)).map((key) => letGo(database, after, key)),
    ...wanted.filter((key) => !held.includes(key)).map((key) => hold(database, after, key)),
  ];
}

/** What a mapping holds alone in its workspace. */
function guardKeys({ sfObject, pgTable }: Mapping): readonly string[] {
  return [`guard#object#${sfObject.toLowerCase()}`, `guard#table#${pgTable.toLowerCase()}`];
}

function hold(database: Database, { workspaceId, id }: Mapping, sk: string): Write {
  return {
    Put: {
      TableName: database.table("mappings"),
      Item: { pk: workspaceId, sk, mapping_id: id },
      ConditionExpression: "attribute_not_exists(pk) OR mapping_id = :id",
      ExpressionAttributeValues: { ":id": id },
    },
  };
}

function letGo(database: Database, { workspaceId, id }: Mapping, sk: string): Write {
  return {
    Delete: {
      TableName: database.table("mappings"),
      Key: { pk: workspaceId, sk },
      ConditionExpression: "attribute_not_exists(pk) OR mapping_id = :id",
      ExpressionAttributeValues: { ":id": id },
    },
  };
}
