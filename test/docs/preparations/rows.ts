import { expect } from "vitest";
import { askOrg } from "../../support/clients/org-rest.ts";
import type { Reader } from "../reader.ts";
import { jsonOf, listed, type Preparations, SOON } from "./shared.ts";

export const rows = {
  /** A validation rule refuses two contacts, until an administrator corrects it. */
  failures: async (reader) => {
    const { instance } = reader;
    const keys = ["demo-contact-3", "demo-contact-4"];
    const message = "Countesses need a county";
    await control(reader, "POST", { kind: "validation", record: "Countess", message, times: 0 });
    await instance.sql("UPDATE salesforce.contact SET title = 'Countess' WHERE external_id__c = ANY ($1)", [keys]);
    const failed = async () => {
      await reader.run("npx bridge poll Contact");
      const errors = await listed<{ id: number; _ab_err: string }>(reader, "/monitoring/errors");
      return errors.filter(({ _ab_err }) => _ab_err.includes(message));
    };
    await expect.poll(failed, SOON).toHaveLength(2);
    const [one] = await failed();
    const kinds = await listed<{ fingerprint: string; sample: string }>(reader, "/monitoring/failures");
    const kind = kinds.find(({ sample }) => sample.includes(message));
    await control(reader, "DELETE");
    await reader.types({
      placeholders: { 4711: String(one?.id), "0123456789abcdef": kind?.fingerprint ?? "" },
      answers: [[/\[y\/N\] $/, "y"]],
    });

    await expect.poll(failed, SOON).toEqual([]);
    const query = `SELECT Title FROM Contact WHERE External_Id__c IN ('${keys.join("', '")}')`;
    expect(await instance.soql(query)).toMatchObject([{ Title: "Countess" }, { Title: "Countess" }]);
  },

  /** The demo's writer makes a conflict in its first seconds. */
  conflict: async (reader) => {
    const { instance } = reader;
    const found = () => listed<Conflict>(reader, "/monitoring/conflicts");
    await expect.poll(found, SOON).not.toEqual([]);
    const [one] = await found();
    await reader.run("npx bridge demo stop");
    await reader.types({ placeholders: { 7: String(one?.id) } });

    expect(one).toMatchObject({ field: "phone", winner: "salesforce" });
    expect(await instance.sql("SELECT phone FROM salesforce.contact WHERE id = $1", [one?.record_id])).toEqual([
      { phone: one?.postgres },
    ]);
  },

  /** A row was deleted a moment ago; afterwards an administrator restores its record in the org. */
  "deleted-row": async (reader) => {
    const { instance } = reader;
    const key = "demo-contact-50";
    const rows = () =>
      instance.sql<{ sfid: string }>("SELECT sfid FROM salesforce.contact WHERE external_id__c = $1", [key]);
    const [row] = await rows();
    await instance.sql("DELETE FROM salesforce.contact WHERE external_id__c = $1", [key]);
    await reader.run("npx bridge poll Contact");
    const output = await reader.types({ placeholders: { "003…": row?.sfid ?? "" } });
    await undelete(reader, row?.sfid ?? "");

    expect(output).toContain("the record was deleted: its row was deleted");
    await expect.poll(rows, SOON).toEqual([row]);
  },

  /** The demo's rows are at rest, and the comparison of the first line ends before its result is read. */
  compared: async (reader) => {
    const result = async () => (await jsonOf<{ compared: object | null }>(reader, "mapping show Contact")).compared;
    const unread = () =>
      reader.instance.sql("SELECT id FROM salesforce.contact WHERE _ab_lastop NOT IN ('SYNCED', 'FAILED')");
    await reader.run("npx bridge demo stop");
    await expect.poll(unread, SOON).toEqual([]);
    await reader.types({ lines: 1 });
    await expect.poll(result, SOON).not.toBeNull();
    await reader.types();

    expect(await result()).toMatchObject({ differing: 0, vanished: 0 });
  },
} satisfies Preparations;

/** Orders a fault of the embedded org, or takes all back. */
const control = ({ instance }: Reader, method: "POST" | "DELETE", body?: object) =>
  askOrg(
    { url: instance.file.salesforce.url, accessToken: instance.file.salesforce.access_token },
    method,
    "/_sim/faults",
    body,
  );

interface Conflict {
  readonly id: number;
  readonly field: string;
  readonly record_id: number;
  readonly winner: string;
  readonly postgres: string;
}

/** As "Restore" in Salesforce's recycle bin. */
async function undelete(reader: Reader, id: string): Promise<void> {
  const { url, access_token } = reader.instance.file.salesforce;
  const body = `<?xml version="1.0"?><s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/" xmlns="urn:partner.soap.sforce.com"><s:Header><SessionHeader><sessionId>${access_token}</sessionId></SessionHeader></s:Header><s:Body><undelete><ids>${id}</ids></undelete></s:Body></s:Envelope>`;
  const headers = { "content-type": "text/xml", soapaction: '""' };
  const answer = await fetch(`${url}/services/Soap/u/68.0`, { method: "POST", headers, body });
  expect(await answer.text()).toContain("<success>true</success>");
}
