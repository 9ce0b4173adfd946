import { setTimeout as pause } from "node:timers/promises";
import { ask, askJson } from "./alone.ts";
import type { BenchOrg } from "./bench-org.ts";

interface Update {
  readonly id: string;
  readonly value: string;
}

const BATCH = 200;

/** Saves one field of records by SOAP in 200s, one call after the other; what is sent is built before. */
export async function updateBySoap(
  { url, token }: BenchOrg,
  object: string,
  updates: readonly Update[],
): Promise<void> {
  for (let from = 0; from < updates.length; from += BATCH) {
    const body = envelope(token, object, updates.slice(from, from + BATCH));
    const response = await fetch(`${url}/services/Soap/u/66.0`, {
      method: "POST",
      headers: { "content-type": "text/xml", SOAPAction: '""' },
      body,
    });
    const answer = await response.text();
    if ((answer.match(/<success>true</g) ?? []).length !== Math.min(BATCH, updates.length - from)) {
      throw new Error(`an update was refused: ${answer.slice(0, 1000)}`);
    }
  }
}

function envelope(token: string, object: string, updates: readonly Update[]): string {
  const records = updates.map(
    ({ id, value }) => `<sObjects><type>${object}</type><Id>${id}</Id><Last__c>${value}</Last__c></sObjects>`,
  );
  return `<se:Envelope xmlns:se="http://schemas.xmlsoap.org/soap/envelope/"><se:Header><SessionHeader><sessionId>${token}</sessionId></SessionHeader></se:Header><se:Body><update xmlns="urn:partner.soap.sforce.com">${records.join("")}</update></se:Body></se:Envelope>`;
}

/** The same by one job of the Bulk API 2.0, its results fetched. */
export async function updateByBulk(
  { connection }: BenchOrg,
  object: string,
  updates: readonly Update[],
): Promise<void> {
  const csv = `Id,Last__c\n${updates.map(({ id, value }) => `${id},${value}`).join("\n")}\n`;
  const { id } = await askJson<{ id: string }>(connection, "POST", "/jobs/ingest", { object, operation: "update" });
  await ask(connection, "PUT", `/jobs/ingest/${id}/batches`, csv);
  await ask(connection, "PATCH", `/jobs/ingest/${id}`, { state: "UploadComplete" });
  while ((await askJson<{ state: string }>(connection, "GET", `/jobs/ingest/${id}`)).state !== "JobComplete") {
    await pause(20);
  }
  const results = await ask(connection, "GET", `/jobs/ingest/${id}/successfulResults`);
  const lines = (await results.text()).trim().split("\n").length - 1;
  if (lines !== updates.length) throw new Error(`${lines} of ${updates.length} updates were accepted`);
}
