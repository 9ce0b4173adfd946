import { vi } from "vitest";
import { PATIENCE, type User } from "./world.ts";

/** Every page that needs no id. */
export const PLACES = [
  ..."/|/mappings|/mappings/new|/activity|/activity/failed|/activity/inbound|/activity/conflicts".split("|"),
  ..."/connections|/budget|/configuration|/configuration/import|/configuration/drift".split("|"),
  ..."/webhooks|/webhooks/new|/tokens|/audit-log".split("|"),
];

/** Gives a workspace something of everything to show; answers the places of all pages, also of those with an id. */
export async function fillWorkspace({ ask, maps, sql, workspace, world }: User): Promise<readonly string[]> {
  const contact = await maps({ sf_object: "Contact", fields: ["LastName", "FirstName", "Email", "Title"] });
  await ask("POST", "/config/baseline");
  await maps({ sf_object: "Account", fields: ["Name", "Industry"] });
  await maps({ sf_object: "Lead", fields: ["LastName", "Company"], sync_direction: "sf_to_pg" });
  const url = `${world.receiver.url}/pager`;
  const webhook = { url, events: ["sync.broken", "sync.recovered"], description: "On call" };
  const { id: webhookId } = await ask<{ id: string }>("POST", "/webhooks", webhook);
  await ask("POST", `/webhooks/${webhookId}/test`);
  await ask("POST", "/tokens", { name: "Wallboard", owner: "ada@example.com", scopes: ["read"], valid_days: 90 });
  await sql(`INSERT INTO pages.contact (firstname, lastname, email)
    SELECT 'Ada', 'Lovelace the ' || n || 'th', 'person' || n || '@example.com' FROM generate_series(1, 120) n`);
  await sql(
    "INSERT INTO pages.contact (lastname, email) VALUES ('Hopper', 'no address 1'), ('Noether', 'no address 2')",
  );
  const failed = await vi.waitFor(async () => {
    const [error] = await ask<readonly { id: number }[]>("GET", "/monitoring/errors");
    if (!error) throw new Error(`no row of ${workspace.id} has failed yet`);
    return error.id;
  }, PATIENCE);
  return [
    ...PLACES,
    ...[`/mappings/${contact}`, `/mappings/${contact}/edit`, `/mappings/${contact}/rows`],
    ...[`/activity/${failed}`, "/rows/contact?key=121", `/webhooks/${webhookId}`],
  ];
}
