import type { ComponentType } from "react";
import { Overview } from "./pages/overview.tsx";
import { later } from "./parts/later.ts";

type Shown = ComponentType<{ readonly id: string }>;

/** Where Salesforce's sign-in comes back to. */
export const SalesforceReturn: Shown = later(
  async () => (await import("./pages/connections/return.tsx")).SalesforceReturn,
);

/** What the operators' workspace begins with, in the overview's place. */
const Fleet: Shown = later(async () => (await import("./pages/fleet/fleet.tsx")).Fleet);

/** The pages by their paths; `{id}` is handed over. The first is part of the first load. */
const PLACES: readonly (readonly [pattern: string, page: Shown])[] = [
  ["/", Overview],
  ["/sign-in", Overview],
  ["/mappings", later(async () => (await import("./pages/mappings/mappings.tsx")).Mappings)],
  ["/mappings/new", later(async () => (await import("./pages/mappings/new-mapping.tsx")).NewMapping)],
  ["/mappings/{id}", later(async () => (await import("./pages/mappings/mapping.tsx")).MappingPage)],
  ["/mappings/{id}/rows", later(async () => (await import("./pages/mappings/rows.tsx")).Rows)],
  ["/mappings/{id}/edit", later(async () => (await import("./pages/mappings/edit-mapping.tsx")).EditMapping)],
  ["/activity", later(async () => (await import("./pages/activity/changes.tsx")).Changes)],
  ["/activity/failed", later(async () => (await import("./pages/activity/failed.tsx")).Failed)],
  ["/activity/inbound", later(async () => (await import("./pages/activity/inbound.tsx")).Inbound)],
  ["/activity/conflicts", later(async () => (await import("./pages/activity/conflicts.tsx")).Conflicts)],
  ["/activity/{id}", later(async () => (await import("./pages/activity/change.tsx")).ChangePage)],
  ["/rows/{id}", later(async () => (await import("./pages/activity/row.tsx")).RowPage)],
  ["/budget", later(async () => (await import("./pages/budget/budget.tsx")).BudgetPage)],
  ["/configuration", later(async () => (await import("./pages/configuration/exported.tsx")).Exported)],
  ["/configuration/import", later(async () => (await import("./pages/configuration/import.tsx")).Import)],
  ["/configuration/drift", later(async () => (await import("./pages/configuration/drift.tsx")).Drift)],
  ["/webhooks", later(async () => (await import("./pages/webhooks/webhooks.tsx")).Webhooks)],
  ["/webhooks/new", later(async () => (await import("./pages/webhooks/new-webhook.tsx")).NewWebhook)],
  ["/webhooks/{id}", later(async () => (await import("./pages/webhooks/webhook.tsx")).WebhookPage)],
  ["/connections", later(async () => (await import("./pages/connections/connections.tsx")).Connections)],
  ["/tokens", later(async () => (await import("./pages/tokens/tokens.tsx")).Tokens)],
  ["/audit-log", later(async () => (await import("./pages/audit-log.tsx")).AuditLog)],
];

const PATTERNS = PLACES.map(([pattern, page]) => ({
  pattern: new RegExp(`^${pattern.replace("{id}", "([^/]+)")}$`),
  page,
}));

/** The workspace of the deployment's operators, which has neither mappings nor connections. */
export const OPERATORS = "deployment";

/** The page of a path, with the id in it; null: there is none. */
export function pageOf(path: string, workspaceId: string): { readonly page: Shown; readonly id: string } | null {
  if (workspaceId === OPERATORS && path === "/") return { page: Fleet, id: "" };
  for (const { pattern, page } of PATTERNS) {
    const found = pattern.exec(path);
    const id = found && decoded(found[1] ?? "");
    if (id !== null) return { page, id };
  }
  return null;
}

/** Null: it is no text that an address can hold, such as `%zz`. */
function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}
