import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import type { Column, TableShape } from "../../../lib/model/mapping/shape.ts";

/** A mapped field, a writable text of 80 characters unless it says otherwise. */
export function column(field: string, more: Partial<Column> = {}): Column {
  return {
    field,
    column: field.toLowerCase(),
    type: "string",
    length: 80,
    precision: 0,
    scale: 0,
    createable: true,
    updateable: true,
    nillable: true,
    referenceTo: [],
    ...more,
  };
}

/** The shape of a contact table with a required, an optional, a keyed and a formula field. */
export function contactShape(more: Partial<TableShape> = {}): TableShape {
  return {
    mappingId: "map_contact",
    configVersion: 1,
    schema: "salesforce",
    table: "contact",
    sfObject: "Contact",
    direction: "bidirectional",
    conflictPolicy: "salesforce_wins",
    columns: [
      column("Email", { type: "email" }),
      column("Key__c"),
      column("LastName", { nillable: false }),
      column("Name", { createable: false, updateable: false }),
    ],
    upsertField: null,
    filter: null,
    softDeletes: true,
    ...more,
  };
}

/** The mapping that a table of this shape belongs to. */
export function mappingOf(shape: TableShape, workspaceId = "w_1"): Mapping {
  return {
    id: shape.mappingId,
    workspaceId,
    sfObject: shape.sfObject,
    pgTable: shape.table,
    syncDirection: shape.direction,
    active: true,
    fields: shape.columns.map(({ field }) => field),
    upsertField: shape.upsertField,
    pollingSeconds: 10,
    whenQuietSeconds: null,
    notifyEnabled: false,
    conflictPolicy: shape.conflictPolicy,
    capture: shape.capture ?? "origin",
    deleteLimit: shape.deleteLimit ?? "auto",
    sweepDays: 1,
    keepHistory: true,
    checkBeforeSave: "auto",
    batchSize: 200,
    filter: null,
    foreign: {},
    configVersion: shape.configVersion,
    provisioning: { state: "pending" },
    createdAt: new Date(0),
    updatedAt: new Date(0),
    deletedAt: null,
  };
}
