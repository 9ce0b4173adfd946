import { setImmediate } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { type Org, type OrgOptions, startOrg } from "../../../../lib/local/org/start-org.ts";
import { temporaryFolder } from "../../../support/run/temporary-folder.ts";

/** An answer of the org, its body read. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: Json;
}

/** JSON as a test reads it: any path may be asked for, and what is not there is undefined. */
export type Json = { readonly [key: string]: Json } & { readonly [index: number]: Json } & Iterable<Json>;

/** A client of the org that knows nothing but HTTP. */
export class Client {
  readonly org: Org;
  readonly version: string;
  token: string;

  constructor(org: Org, version = "66.0") {
    this.org = org;
    this.version = version;
    this.token = org.accessToken;
  }

  get base(): string {
    return `/services/data/v${this.version}`;
  }

  /** A request below the versioned base, unless the path begins with a slash. */
  async call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const isText = typeof body === "string";
    const response = await fetch(this.org.url + (path.startsWith("/") ? path : `${this.base}/${path}`), {
      method,
      headers: {
        Authorization: `Bearer ${this.token}`,
        "Content-Type": isText ? "text/csv" : "application/json",
        ...headers,
      },
      ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
      redirect: "manual",
    });
    return await read(response);
  }

  get(path: string): Promise<Answer> {
    return this.call("GET", path);
  }

  query(soql: string, resource = "query"): Promise<Answer> {
    return this.get(`${resource}?q=${encodeURIComponent(soql)}`);
  }

  /** The records of a query that must succeed. */
  async records(soql: string, resource = "query"): Promise<Json[]> {
    const answer = await this.query(soql, resource);
    if (answer.status !== 200) throw new Error(answer.text);
    return [...(answer.json["records"] ?? [])];
  }

  /** The id of a new record, which must be accepted. */
  async create(object: string, fields: Readonly<Record<string, unknown>>): Promise<string> {
    const answer = await this.call("POST", `sobjects/${object}`, fields);
    if (answer.status !== 201) throw new Error(answer.text);
    return String(answer.json["id"]);
  }

  /** A SOAP operation; `inner` is the content of the body. */
  async soap(inner: string, header = ""): Promise<Answer> {
    const session = `<SessionHeader><sessionId>${this.token}</sessionId></SessionHeader>`;
    const response = await fetch(`${this.org.url}/services/Soap/u/${this.version}`, {
      method: "POST",
      headers: { "Content-Type": "text/xml", SOAPAction: '""' },
      body: `<se:Envelope xmlns:se="http://schemas.xmlsoap.org/soap/envelope/" xmlns="urn:partner.soap.sforce.com" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><se:Header>${session}${header}</se:Header><se:Body>${inner}</se:Body></se:Envelope>`,
    });
    return await read(response);
  }
}

async function read(response: Response): Promise<Answer> {
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.includes("json") ?? false;
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: (isJson && text !== "" ? JSON.parse(text) : {}) as Json,
  };
}

/** A running org of its own for one test, with its controls open; it ends with the test. */
export async function openOrg(options: Partial<OrgOptions> = {}): Promise<Client> {
  const org = await startOrg({ controls: true, dataDir: temporaryFolder(), ...options });
  onTestFinished(() => org.close());
  return new Client(org);
}

/** A clock that does not move until it is moved; sleepers wake when their time comes. */
export class ManualClock {
  #now: number;
  #sleepers: { readonly until: number; readonly wake: () => void }[] = [];

  constructor(start = "2026-02-03T04:05:06.789Z") {
    this.#now = Date.parse(start);
  }

  now(): Date {
    return new Date(this.#now);
  }

  sleep(milliseconds: number): Promise<void> {
    return new Promise((wake) => this.#sleepers.push({ until: this.#now + milliseconds, wake }));
  }

  /** Resolves once this many sleepers wait on the clock. */
  async sleepers(count: number): Promise<void> {
    while (this.#sleepers.length < count) await setImmediate();
  }

  pass(milliseconds: number): void {
    this.#now += milliseconds;
    const due = this.#sleepers.filter((sleeper) => sleeper.until <= this.#now);
    this.#sleepers = this.#sleepers.filter((sleeper) => sleeper.until > this.#now);
    for (const { wake } of due) wake();
  }
}
