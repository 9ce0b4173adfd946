import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import * as z from "zod/mini";
import type { Clock } from "../clock.ts";
import type { Org } from "../org/start-org.ts";
import { accountKey, contactKey, IN_SALESFORCE } from "./sample-data.ts";

interface Needs {
  readonly dataDir: string;
  readonly databaseUrl: string;
  readonly org: Pick<Org, "url" | "accessToken">;
  /** Whether the demo's workspace is still connected to this database and this org; throws when that is unknown. */
  readonly isOurs: () => Promise<boolean>;
  /** Receives why it stops, a line. */
  readonly show: (line: string) => void;
  readonly clock: Clock;
}

/** How long one write comes after the other. */
const EVERY_SECONDS = 8;

/** An hour of writes; then it stops until `bridge demo start`. It changes sample rows and makes none. */
const WRITES = 3600 / EVERY_SECONDS;

/** Among its first writes it tries for a conflict, until there is one. */
const TRIES_FOR_CONFLICT = 6;

const stateSchema = z.object({
  /** How many writes are left; 0 while it is stopped. */
  left: z.int(),
});

const fileIn = (dataDir: string): string => join(dataDir, "demo-writer.json");

/** Whether the data folder has the sample data that the writer changes. */
export const hasWriter = (dataDir: string): boolean => existsSync(fileIn(dataDir));

/** For how many minutes it still writes; 0: it is stopped, or its file is damaged, which ends it at its next write. */
export function minutesLeft(dataDir: string): number {
  try {
    return Math.ceil((readLeft(dataDir) * EVERY_SECONDS) / 60);
  } catch {
    return 0;
  }
}

/** Lets the writer begin, once the sample data is there. */
export const allowWriter = (dataDir: string): void => keepLeft(dataDir, WRITES);

/**
 * Changes a sample row or record every few seconds, alternately on either side, as an application and colleagues would;
 * at first one contact on both sides at once, for a conflict. It stops after an hour, when the workspace is connected
 * to another database or org, when a write fails, and when `bridge demo stop` writes so into its file.
 */
export function startWriter(needs: Needs): { close(): Promise<void> } {
  const { clock, dataDir, show } = needs;
  let isClosed = false;
  let writing: Promise<void> = Promise.resolve();
  let cancel = () => {};
  const book = () => {
    cancel = clock.at(clock.now() + EVERY_SECONDS * 1000, () => {
      writing = writeOnce(needs).catch(({ message }: Error) => {
        keepLeft(dataDir, 0);
        show(`  the demo's writer has stopped: ${message}; npx bridge demo start resumes it`);
      });
      void clock.during(writing.then(() => isClosed || book()));
    });
  };
  book();
  return {
    async close() {
      isClosed = true;
      cancel();
      await writing;
    },
  };
}

async function writeOnce(needs: Needs): Promise<void> {
  const left = readLeft(needs.dataDir);
  if (left <= 0) return;
  if (!(await needs.isOurs())) throw new Error("the workspace is connected to another database or org");
  const number = WRITES - left;
  const client = new Client({ connectionString: needs.databaseUrl, application_name: "demo writer" });
  await client.connect();
  try {
    if (number < TRIES_FOR_CONFLICT && (await wantsConflict(client))) await writeBoth(needs, client, number);
    else if (number % 2 === 0)
      await changeRow(client, contactKey(1 + (((number / 2) * 7) % IN_SALESFORCE.contacts)), number);
    else await changeRecord(needs, "Account", accountKey(1 + (((number - 1) / 2) % IN_SALESFORCE.accounts)), number);
  } finally {
    await client.end();
  }
  // It may have been stopped meanwhile.
  if (readLeft(needs.dataDir) === left) keepLeft(needs.dataDir, left - 1);
  if (left === 1) throw new Error("an hour is over");
}

/** Whether there is none yet, and the contact that it takes is on both sides. */
async function wantsConflict(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ wants: boolean }>(
    `SELECT NOT EXISTS (SELECT FROM salesforce._bridge_conflicts)
       AND EXISTS (SELECT FROM salesforce.contact WHERE external_id__c = $1 AND sfid IS NOT NULL) AS wants`,
    [contactKey(1)],
  );
  return rows[0]?.wants === true;
}

/** The record changes before the row's change can be seen, so that no cycle comes between the two. */
async function writeBoth(needs: Needs, client: Client, number: number): Promise<void> {
  await client.query("BEGIN");
  await changeRow(client, contactKey(1), number);
  await changeRecord(needs, "Contact", contactKey(1), number + 1);
  await client.query("COMMIT");
}

async function changeRow(client: Client, key: string, number: number): Promise<void> {
  await client.query("UPDATE salesforce.contact SET phone = $1 WHERE external_id__c = $2", [phone(number), key]);
}

async function changeRecord({ org }: Needs, object: string, key: string, number: number): Promise<void> {
  const answer = await fetch(`${org.url}/services/data/v68.0/sobjects/${object}/External_Id__c/${key}`, {
    method: "PATCH",
    headers: { authorization: `Bearer ${org.accessToken}`, "content-type": "application/json" },
    body: JSON.stringify({ Phone: phone(number) }),
  });
  if (!answer.ok) throw new Error(`Salesforce answered ${answer.status}: ${(await answer.text()).slice(0, 200)}`);
}

const phone = (number: number): string => `+44 20 7946 ${String(1000 + number).padStart(4, "0")}`;

function readLeft(dataDir: string): number {
  return stateSchema.parse(JSON.parse(readFileSync(fileIn(dataDir), "utf8"))).left;
}

function keepLeft(dataDir: string, left: number): void {
  const next = `${fileIn(dataDir)}.next`;
  writeFileSync(next, JSON.stringify({ left }), { mode: 0o600 });
  renameSync(next, fileIn(dataDir));
}
