import type { Catalog } from "../metadata/catalog.ts";
import { Refusal } from "../refusal.ts";
import type { Row, Stored } from "../store/database.ts";
import type { Records } from "../store/records.ts";
import type { Saver } from "./saver.ts";
import { laterStamp, type Saving } from "./saving.ts";

interface Needs {
  readonly records: Records;
  readonly catalog: Catalog;
  readonly saver: Saver;
}

/** How to convert a lead; what has no id yet is created. */
export interface Conversion {
  readonly leadId: string;
  readonly convertedStatus: string;
  readonly accountId: string | null;
  readonly contactId: string | null;
  readonly opportunityName: string | null;
  readonly doNotCreateOpportunity: boolean;
}

/** The result for a lead. */
export interface Converted {
  readonly accountId: string;
  readonly contactId: string;
  readonly opportunityId: string | null;
}

/** Lead statuses of a converted lead. */
export const CONVERTED_STATUSES: ReadonlySet<string> = new Set(["Closed - Converted"]);

/** Makes a lead into an account, a contact and, unless not wanted, an opportunity. */
export function convertLead({ records, catalog, saver }: Needs, asked: Conversion, saving: Saving): Converted {
  const object = catalog.get("Lead");
  const lead = saver.alive(object, asked.leadId);
  if (lead["IsConverted"] === 1) throw new Refusal("CANNOT_UPDATE_CONVERTED_LEAD", "cannot reference converted lead");
  if (!CONVERTED_STATUSES.has(asked.convertedStatus)) {
    throw new Refusal("INVALID_STATUS", `invalid convertedStatus: ${asked.convertedStatus}`);
  }
  const make = (name: string, values: Row) => create({ catalog, saver }, name, values, saving);
  const accountId = asked.accountId ?? make("Account", accountOf(lead));
  const contactId = asked.contactId ?? make("Contact", { ...contactOf(lead), AccountId: accountId });
  const opportunity = {
    Name: asked.opportunityName ?? lead["Company"] ?? null,
    StageName: "Prospecting",
    CloseDate: quarterEnd(saving.startedAt),
    AccountId: accountId,
  };
  const opportunityId = asked.doNotCreateOpportunity ? null : make("Opportunity", opportunity);
  records.update(object, asked.leadId, {
    Status: asked.convertedStatus,
    IsConverted: 1,
    ConvertedDate: saving.stamp.slice(0, 10),
    ConvertedAccountId: accountId,
    ConvertedContactId: contactId,
    ConvertedOpportunityId: opportunityId,
    LastModifiedDate: saving.stamp,
    LastModifiedById: saving.userId,
    SystemModstamp: laterStamp(saving, lead),
  });
  return { accountId, contactId, opportunityId };
}

function create(
  { catalog, saver }: Pick<Needs, "catalog" | "saver">,
  name: string,
  values: Row,
  saving: Saving,
): string {
  const object = catalog.get(name);
  const fields = Object.entries(values).flatMap(([fieldName, value]) => {
    const field = object.field(fieldName);
    return field && value !== null ? [[field, value] as const] : [];
  });
  return saver.create({ object, id: null, values: new Map(fields), links: [], refusal: null }, saving);
}

function accountOf(lead: Row): Row {
  return {
    ...same(lead, ["Phone", "Fax", "Website", "Industry", "Rating", "AnnualRevenue", "NumberOfEmployees"]),
    Name: lead["Company"] ?? null,
    AccountSource: lead["LeadSource"] ?? null,
  };
}

function contactOf(lead: Row): Row {
  return same(lead, [
    "Salutation",
    "FirstName",
    "LastName",
    "Title",
    "Email",
    "Phone",
    "MobilePhone",
    "Fax",
    "LeadSource",
  ]);
}

function same(row: Row, names: readonly string[]): Row {
  return Object.fromEntries(names.map((name): [string, Stored] => [name, row[name] ?? null]));
}

/** The last day of the quarter, as Salesforce dates a new opportunity. */
function quarterEnd(now: Date): string {
  return new Date(Date.UTC(now.getUTCFullYear(), Math.floor(now.getUTCMonth() / 3) * 3 + 3, 0))
    .toISOString()
    .slice(0, 10);
}
