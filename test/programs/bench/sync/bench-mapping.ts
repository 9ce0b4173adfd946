import { createProvisioner } from "../../../../lib/adapters/postgres/schema/provision.ts";
import { connectOrg } from "../../../../lib/adapters/salesforce/connect-org.ts";
import type { Mapping } from "../../../../lib/model/mapping/mapping.ts";
import type { TableShape } from "../../../../lib/model/mapping/shape.ts";
import type { SalesforceConnection } from "../../../../lib/model/workspace/workspace.ts";
import type { Salesforce } from "../../../../lib/sync/ports/cycle-ports.ts";
import { describeShape } from "../../../../lib/sync/schema/describe-shape.ts";
import { mappingOf } from "../../../support/worlds/shapes.ts";
import { MAPPED_FIELDS } from "./bench-objects.ts";

/** Both ways, by its external id. */
export function benchMapping(object: string): Mapping {
  const table = object.toLowerCase();
  const base = { mappingId: `map_${table}`, table, sfObject: object, direction: "bidirectional" } as const;
  const shape = { ...base, configVersion: 1, columns: [], upsertField: "Key__c", conflictPolicy: "salesforce_wins" };
  return { ...mappingOf(shape as unknown as TableShape), fields: MAPPED_FIELDS };
}

/** The adapter to an org whose session is open. */
export function salesforceOf(connection: SalesforceConnection): Salesforce {
  const refuse = async () => {
    throw new Error("the benchmark's session has ended");
  };
  return connectOrg({ current: async () => connection, renew: refuse }, new AbortController().signal);
}

/** Makes the mapping's table in a database, with capture, or without it and with the same indexes. */
export async function provisionTable(
  url: string,
  org: SalesforceConnection,
  object: string,
  { captured }: { readonly captured: boolean },
): Promise<TableShape> {
  const mapping = benchMapping(object);
  const shape = await describeShape(salesforceOf(org), mapping, "salesforce");
  const provisioner = createProvisioner({ url, schema: "salesforce" }, () => new Date());
  await provisioner.provision(mapping, shape);
  if (!captured) await provisioner.retire(mapping);
  return shape;
}
