import { setTimeout as pause } from "node:timers/promises";

/** An org to ask: its address and a token that it takes. */
export interface Door {
  readonly url: string;
  readonly token: string;
  /** Advances the org's time; an embedded org's clock is moved. */
  readonly pass: (milliseconds: number) => Promise<unknown>;
}

/** How the names of all records begin that a drill makes, so that none is left behind. */
export const MARK = "Bridge drill";

/** An answer, or the outcome of a call of the engine's client, as it is compared. */
export interface Seen {
  readonly status: number | "answered" | "refused";
  readonly body: unknown;
}

interface Request {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

/** A request as any client of Salesforce sends it. */
export async function ask({ url, token }: Door, request: Request): Promise<Seen> {
  const response = await fetch(url + request.path, {
    method: request.method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: request.body === undefined ? null : JSON.stringify(request.body),
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.includes("json") && text !== "";
  return { status: response.status, body: isJson ? (JSON.parse(text) as unknown) : text };
}

/** The org that the environment names, null if it names none; throws if its login is refused. */
export async function doorFromEnvironment(env: NodeJS.ProcessEnv): Promise<Door | null> {
  const { SALESFORCE_INSTANCE_URL: url, SALESFORCE_ACCESS_TOKEN: token } = env;
  if (url && token) return { url: url.replace(/\/$/, ""), token, pass: pause };
  const { SALESFORCE_LOGIN_URL: loginUrl, SALESFORCE_USERNAME: username, SALESFORCE_PASSWORD: password } = env;
  return loginUrl && username && password ? await logIn(loginUrl, username, password) : null;
}

/** SOAP login, which retires with API 65; 59 still has it. */
async function logIn(loginUrl: string, username: string, password: string): Promise<Door> {
  const safe = (text: string) =>
    text.replace(/[&<>]/g, (letter) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[letter] ?? letter);
  const response = await fetch(`${loginUrl.replace(/\/$/, "")}/services/Soap/u/59.0`, {
    method: "POST",
    headers: { "Content-Type": "text/xml", SOAPAction: '""' },
    body: `<se:Envelope xmlns:se="http://schemas.xmlsoap.org/soap/envelope/"><se:Header/><se:Body><login xmlns="urn:partner.soap.sforce.com"><username>${safe(username)}</username><password>${safe(password)}</password></login></se:Body></se:Envelope>`,
  });
  const text = await response.text();
  const part = (name: string) => new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1];
  const [serverUrl, token] = [part("serverUrl"), part("sessionId")];
  if (!serverUrl || !token)
    throw new Error(`the real org refused the login: ${part("faultstring") ?? text.slice(0, 300)}`);
  return { url: new URL(serverUrl).origin, token, pass: pause };
}

/** Children first. Each with the field that a drill's mark is in. */
const MADE = [
  ["Contact", "LastName"],
  ["Account", "Name"],
] as const;

const BASE = "/services/data/v62.0";

/** Deletes every record that a drill has made there, of an earlier one that was broken off too; gives those that stay. */
export async function sweepUp(door: Door): Promise<readonly string[]> {
  for (const [object, field] of MADE)
    for (const id of await marked(door, object, field))
      await ask(door, { method: "DELETE", path: `${BASE}/sobjects/${object}/${id}` });
  const left = await Promise.all(MADE.map(([object, field]) => marked(door, object, field)));
  return left.flat();
}

async function marked(door: Door, object: string, field: string): Promise<readonly string[]> {
  const soql = `SELECT Id FROM ${object} WHERE ${field} LIKE '${MARK}%'`;
  const { status, body } = await ask(door, { method: "GET", path: `${BASE}/query?q=${encodeURIComponent(soql)}` });
  if (status !== 200) throw new Error(`${soql} answered ${status}: ${JSON.stringify(body)}`);
  return (body as { records: { Id: string }[] }).records.map(({ Id }) => Id);
}
