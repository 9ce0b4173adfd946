import { Client } from "pg";
import { expect, vi } from "vitest";
import type { Envelope } from "../support/clients/call.ts";
import {
  type HttpAnswer,
  type HttpRequest,
  type RunningBridge,
  startRunningBridge,
} from "../support/worlds/running-bridge.ts";
import type { TestWorkspace } from "../support/worlds/workspace.ts";

/** A workspace whose Contact is mapped and synced and whose Account is mapped and paused, as a client sees it. */
export interface ContractWorld {
  readonly bridge: RunningBridge;
  readonly workspace: TestWorkspace;
  readonly contactId: string;
  readonly accountId: string;
  /** A request below the workspace with its admin token. */
  ask(method: string, path: string, request?: HttpRequest): Promise<HttpAnswer>;
  /** The `data` of an answer that must be 200. */
  data<Data>(method: string, path: string, request?: HttpRequest): Promise<Data>;
  /** One statement of the application. */
  sql<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Waits until a row's `_ab_lastop` is this, polling its mapping meanwhile. */
  until(contactRowId: number, lastOperation: string): Promise<void>;
  close(): Promise<void>;
}

interface ListedMapping {
  readonly id: string;
  readonly sf_object: string;
}

/** Starts it all: cloud, org, database, functions; imports two mappings and waits for their tables. */
export async function startContractWorld(settings: { readonly controls?: boolean } = {}): Promise<ContractWorld> {
  const bridge = await startRunningBridge(settings);
  const workspace = await bridge.createWorkspace();
  const client = new Client({ connectionString: bridge.database.url });
  await client.connect();
  const ask: ContractWorld["ask"] = (method, path, request) =>
    bridge.request(method, `/api/v1/t/${workspace.id}${path}`, { token: workspace.token, ...request });
  const data = async <Data>(method: string, path: string, request?: HttpRequest): Promise<Data> => {
    const answer = await ask(method, path, request);
    expect(answer.status, answer.text).toBe(200);
    return answer.json?.data as Data;
  };
  await data("POST", "/config/import", { body: DOCUMENT });
  const listed = await data<readonly ListedMapping[]>("GET", "/mappings?include=inactive");
  const idOf = (object: string) => listed.find(({ sf_object }) => sf_object === object)?.id ?? "";
  const sql: ContractWorld["sql"] = async (text, values = []) => (await client.query(text, [...values])).rows;
  await vi.waitFor(() => sql("SELECT FROM salesforce.contact, salesforce.account"), {
    timeout: 300_000,
    interval: 100,
  });
  const contactId = idOf("Contact");

  return {
    bridge,
    workspace,
    contactId,
    accountId: idOf("Account"),
    ask,
    data,
    sql,
    until: (id, lastOperation) =>
      vi.waitFor(
        async () => {
          await ask("POST", `/mappings/${contactId}/poll-now`);
          const [row] = await sql<{ _ab_lastop: string }>("SELECT _ab_lastop FROM salesforce.contact WHERE id = $1", [
            id,
          ]);
          expect(row?._ab_lastop).toBe(lastOperation);
        },
        { timeout: 300_000, interval: 250 },
      ),
    close: async () => {
      await client.end();
      await bridge.close();
    },
  };
}

const DOCUMENT = {
  version: 1,
  mappings: [
    { object_name: "Contact", config: { fields: { LastName: {}, Email: {} } } },
    { object_name: "Account", config: { fields: { Name: {} }, bridge: { active: false } } },
  ],
};

/** What every refusal must look like (contract 2.1, 7). */
export function expectRefusal(answer: HttpAnswer, status: number, code: string): Envelope["error"] {
  expect({ status: answer.status, code: answer.json?.error?.code }).toEqual({ status, code });
  expect(answer.json).toEqual({
    success: false,
    error: { ...answer.json?.error, code, message: expect.stringMatching(/\S/) },
  });
  expect(answer.headers.get("content-type")).toBe("application/json");
  return answer.json?.error;
}
