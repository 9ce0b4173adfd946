import type { Event } from "../model/delivery/event.ts";
import type { Mapping, Provisioning } from "../model/mapping/mapping.ts";
import type { AuditEntry, Doing } from "../model/workspace/audit.ts";

/** The mappings of one workspace at one moment. */
export interface Listing {
  /** Rises with every change of any of them. */
  readonly generation: number;
  /** Not the deleted ones; by object name. */
  readonly mappings: readonly Mapping[];
}

/** One mapping as it was and as it shall be; a new one has no `before`. */
export interface MappingChange {
  readonly before: Mapping | null;
  readonly after: Mapping;
}

/** An import that was decided: everything that it changes. */
export interface ImportPlan extends Doing {
  readonly id: string;
  readonly changes: readonly MappingChange[];
}

/** Changes with what must commit together with them. */
export interface RecordedChanges {
  readonly changes: readonly MappingChange[];
  readonly audit: readonly AuditEntry[];
  readonly events: readonly Event[];
}

/** How many changes one transaction takes, whatever they are. */
export const CHANGES_AT_ONCE = 7;

/**
 * Where mappings are kept. Readers see a committed plan at once and whole, however far it was carried out. Two mappings
 * of a workspace never share an object or a table (compared without case).
 */
export interface Mappings {
  list(workspaceId: string): Promise<Listing>;
  /** Null also for a deleted one. */
  find(workspaceId: string, mappingId: string): Promise<Mapping | null>;
  /** The deleted ones, by object name: they can be restored. */
  listDeleted(workspaceId: string): Promise<readonly Mapping[]>;
  /**
   * Makes changes of the workspace's mappings, at most `CHANGES_AT_ONCE`, if nothing changed since `generation`; false:
   * something did, so read again. Refuses with CONFLICT an object or a table that another mapping has.
   */
  change(workspaceId: string, generation: number, recorded: RecordedChanges): Promise<boolean>;
  /** Keeps how far the tables of one config version are; false when the mapping has moved on. */
  setProvisioning(
    workspaceId: string,
    mappingId: string,
    version: number,
    provisioning: Provisioning,
  ): Promise<boolean>;
  /** Every active mapping and every import that is not carried out, of every workspace, in one reading. */
  everywhere(): AsyncIterable<{ readonly mapping: Mapping } | { readonly openImport: OpenImport }>;
}

/** An import that is committed and not yet carried out. */
export interface OpenImport {
  readonly workspaceId: string;
  readonly id: string;
}

/** An import's plan from its commit to its end. */
export interface ImportPlans {
  /** Makes the plan what readers see, if nothing changed since `generation`; false: something did. */
  commit(plan: ImportPlan, generation: number, entry: AuditEntry): Promise<boolean>;
  /** The plan that is committed and not yet carried out; one that could not be for as long as it is kept is ended. */
  open(workspaceId: string): Promise<ImportPlan | null>;
  /** Carries out a part of it, at most `CHANGES_AT_ONCE` changes; what was carried out before is left alone. */
  carryOut(planId: string, recorded: RecordedChanges): Promise<void>;
  /** Ends a plan that was carried out. */
  close(workspaceId: string, planId: string): Promise<void>;
}

/** A pinned configuration against which drift is measured. */
export interface Baseline {
  readonly id: string;
  readonly workspaceId: string;
  readonly capturedAt: Date;
  readonly mappings: readonly Mapping[];
}

/** Where baselines are kept. */
export interface Baselines {
  save(baseline: Baseline, entry: AuditEntry): Promise<void>;
  /** The most recent one; null when none was ever saved. */
  latest(workspaceId: string): Promise<Baseline | null>;
}
