import { setTimeout as pause } from "node:timers/promises";

/** Every page that needs no id. */
export const PLACES = [
  "/",
  "/mappings",
  "/mappings/new",
  "/activity",
  "/activity/failed",
  "/activity/inbound",
  "/activity/conflicts",
  "/connections",
  "/budget",
  "/configuration",
  "/configuration/import",
  "/configuration/drift",
  "/webhooks",
  "/webhooks/new",
  "/tokens",
  "/audit-log",
] as const;

/** How a workspace is filled: by its own API, and by its application's SQL. */
export interface Filling {
  /** The `data` of a request below the workspace. */
  ask<Data>(method: string, path: string, body?: unknown): Promise<Data>;
  sql(text: string): Promise<unknown>;
  readonly schema: string;
  /** The address of a webhook. */
  readonly receiverUrl: string;
}

interface Mapped {
  readonly id: string;
  readonly sf_object: string;
  readonly state: string;
}

const FIELDS = { Contact: ["LastName", "FirstName", "Email", "Title"], Account: ["Name", "Industry"] };

const FIRST_NAMES = "'Ada', 'Grace', 'Emmy', 'Katherine', 'Annie', 'Hedy', 'Mary', 'Joan'";
const LAST_NAMES = "'Lovelace', 'Hopper', 'Noether', 'Johnson', 'Easley', 'Lamarr', 'Somerville', 'Clarke'";

/** Gives a workspace something of everything to show; answers the places of all pages, also of those with an id. */
export async function fillWorkspace({ ask, sql, schema, receiverUrl }: Filling): Promise<readonly string[]> {
  const before = await ask<readonly Mapped[]>("GET", "/monitoring/mappings");
  for (const [sf_object, fields] of Object.entries(FIELDS)) {
    if (before.every((mapping) => mapping.sf_object !== sf_object))
      await ask("POST", "/mappings", { sf_object, fields });
  }
  await ask("POST", "/config/baseline");
  await ask("POST", "/mappings", { sf_object: "Lead", fields: ["LastName", "Company"], sync_direction: "sf_to_pg" });
  const webhook = { url: `${receiverUrl}/pager`, events: ["sync.broken", "sync.recovered"], description: "On call" };
  const { id: webhookId } = await ask<{ id: string }>("POST", "/webhooks", webhook);
  await ask("POST", `/webhooks/${webhookId}/test`);
  await ask("POST", "/tokens", { name: "Wallboard", owner: "ada@example.com", scopes: ["read"], valid_days: 90 });
  const mappings = await soon(async () => {
    const states = await ask<readonly Mapped[]>("GET", "/monitoring/mappings");
    return states.every(({ state }) => state === "running") ? states : null;
  });
  await sql(`INSERT INTO ${schema}.contact (firstname, lastname, email)
    SELECT (ARRAY[${FIRST_NAMES}])[1 + n % 8], (ARRAY[${LAST_NAMES}])[1 + n % 8], 'person' || n || '@example.com'
    FROM generate_series(1, 120) n`);
  await sql(
    `INSERT INTO ${schema}.contact (lastname, email) VALUES ('Hopper', 'no address 1'), ('Noether', 'no address 2')`,
  );
  const failed = await soon(async () => (await ask<readonly { id: number }[]>("GET", "/monitoring/errors"))[0]?.id);
  const contact = mappings.find(({ sf_object }) => sf_object === "Contact")?.id;
  return [
    ...PLACES,
    `/mappings/${contact}`,
    `/mappings/${contact}/edit`,
    `/mappings/${contact}/rows`,
    `/activity/${failed}`,
    "/rows/contact?key=121",
    `/webhooks/${webhookId}`,
  ];
}

/** Polls until there is a result; outside of a test as well, for pictures. */
async function soon<Found>(look: () => Promise<Found | null | undefined>): Promise<Found> {
  const until = Date.now() + 120_000;
  while (Date.now() < until) {
    const seen = await look();
    if (seen !== null && seen !== undefined) return seen;
    await pause(250);
  }
  throw new Error("it has not come within two minutes");
}
