import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startOrg } from "../../../lib/local/org/start-org.ts";
import { readOptions } from "../../../lib/local/read-options.ts";
import { differencesOf } from "./differences.ts";
import { type Door, doorFromEnvironment } from "./door.ts";
import { SEQUENCE, type Seen } from "./sequence.ts";

const HELP = `npm run drill:salesforce

Runs the same sequence against the embedded org and a real Developer org and prints every difference between their
answers. Without credentials in the environment it says so in one line. Everything it creates in the real org it deletes
again.`;

readOptions(HELP, {});
const real = await doorFromEnvironment(process.env);
if (real) await drill(real);
else
  console.log(
    "drill:salesforce skipped: set SALESFORCE_INSTANCE_URL and SALESFORCE_ACCESS_TOKEN, or SALESFORCE_LOGIN_URL, SALESFORCE_USERNAME and SALESFORCE_PASSWORD, to run it",
  );

async function drill(realDoor: Door): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), "bridge-drill-"));
  const org = await startOrg({ dataDir });
  try {
    const [ours, theirs] = [await runThrough({ url: org.url, token: org.accessToken }), await runThrough(realDoor)];
    const found = SEQUENCE.flatMap(({ name }) =>
      differencesOf(ours.get(name), theirs.get(name)).map((difference) => `${name}: ${difference}`),
    );
    for (const line of found) console.log(line);
    console.log(`${SEQUENCE.length} steps, ${found.length} differences`);
  } finally {
    await org.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** The answers of one org to all steps; later steps use ids from earlier answers. */
async function runThrough(door: Door): Promise<Map<string, Seen>> {
  const seen = new Map<string, Seen>();
  for (const step of SEQUENCE)
    seen.set(
      step.name,
      await ask(
        door,
        step.request((name) => idIn(seen.get(name))),
      ),
    );
  return seen;
}

async function ask(
  { url, token }: Door,
  request: { method: string; path: string; body?: unknown; soap?: string },
): Promise<Seen> {
  const soap = request.soap?.replace("@session", token);
  const response = await fetch(url + request.path, {
    method: request.method,
    headers: {
      Authorization: `Bearer ${token}`,
      "Content-Type": soap === undefined ? "application/json" : "text/xml",
      SOAPAction: '""',
    },
    ...(soap === undefined
      ? request.body === undefined
        ? {}
        : { body: JSON.stringify(request.body) }
      : { body: soap }),
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.includes("json") && text !== "";
  return { status: response.status, body: isJson ? (JSON.parse(text) as unknown) : text };
}

function idIn(seen: Seen | undefined): string {
  const body = seen?.body;
  return typeof body === "object" && body !== null && "id" in body ? String(body.id) : "000000000000000AAA";
}
