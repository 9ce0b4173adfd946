import type { SalesforceConnection } from "../../../lib/model/workspace/workspace.ts";
import type { Salesforce } from "../../../lib/sync/ports/cycle-ports.ts";
import type { Door } from "./door.ts";

/** The engine's client of one org, and its answers. */
export interface Interview {
  readonly door: Door;
  readonly salesforce: Salesforce;
  readonly connection: SalesforceConnection;
  /** In the name of every record that it makes, the same for all orgs. */
  readonly mark: string;
  /** The external id by which accounts are found, `External_Id__c`; null: the org has none. */
  readonly key: string | null;
  /** Keeps what a call came to, as `shown` shows it, under a name; null where it was refused. */
  tell<Answer>(name: string, work: () => Promise<Answer>, shown?: (answer: Answer) => unknown): Promise<Answer | null>;
}
