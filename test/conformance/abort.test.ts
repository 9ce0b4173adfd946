import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type ContractWorld, startContractWorld } from "./world.ts";

let world: ContractWorld;
beforeAll(async () => {
  world = await startContractWorld({ controls: true });
});
afterAll(() => world.close());

const ROWS = 600;
const BATCH = 200;

test("an abort ends a running cycle within one batch and gives back what was not sent", async () => {
  // Else the push of a slow machine gives its changes back on its own, because the next pull is due.
  const config = { sf_polling_seconds: 3600, fields: { LastName: {}, Email: {} } };
  await world.data("POST", "/config/import", { body: { version: 1, mappings: [{ object_name: "Contact", config }] } });
  await noteSteps();
  const atSecondBatch = await gate();
  const atThirdBatch = await gate(); // of those that pass the first gate
  await world.sql(
    "INSERT INTO salesforce.contact (lastname, email) SELECT 'C' || n, n || '@example.com' FROM generate_series(1, $1::int) AS n",
    [ROWS],
  );
  await world.data("POST", `/mappings/${world.contactId}/poll-now`);
  await atSecondBatch.reached();

  const result = await world.data("POST", `/mappings/${world.contactId}/abort`);
  await atSecondBatch.open();
  await vi.waitFor(async () => expect(await steps("PENDING", "NEW")).toHaveLength(ROWS - 2 * BATCH), 300_000);

  expect(result).toEqual({ aborted: true });
  const [accepted, givenBack] = [await steps("PENDING", "SUCCESS"), await steps("PENDING", "NEW")];
  expect(accepted).toHaveLength(2 * BATCH);
  expect(givenBack.filter(({ sent_at }) => sent_at !== null)).toEqual([]);
  const [audit] = await world.data<{ action: string }[]>("GET", "/audit-log?limit=1");
  expect(audit?.action).toBe("mapping.poll_aborted");

  await atThirdBatch.open();
  await world.data("POST", `/mappings/${world.contactId}/poll-now`); // else the next beat sends them
  await vi.waitFor(async () => expect(await steps("PENDING", "SUCCESS")).toHaveLength(ROWS), 300_000);
  expect(await steps("PENDING", "NEW")).toHaveLength(ROWS - 2 * BATCH);
});

/** Holds the second call that creates contacts, until it is opened. */
async function gate() {
  const { org } = world.bridge;
  const order = { kind: "gate", path: "^POST /services/Soap.* create$", object: "Contact", nth: 2 };
  const { id } = (await org.control("POST", "/faults", order)) as { readonly id: number };
  return {
    reached: () => org.control("GET", `/gates/${id}`),
    open: () => org.control("DELETE", `/faults/${id}`),
  };
}

/** Lets the database write down every step that a change takes, and whether it had been sent before. */
async function noteSteps(): Promise<void> {
  await world.sql(`
    CREATE TABLE public.steps (change bigint, before text, after text, sent_at timestamptz);
    CREATE FUNCTION public.note_step() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO public.steps VALUES (OLD.id, OLD.state, NEW.state, OLD.sent_at);
      RETURN NULL;
    END $$;
    CREATE TRIGGER note_step AFTER UPDATE ON salesforce._trigger_log FOR EACH ROW
      WHEN (OLD.state IS DISTINCT FROM NEW.state) EXECUTE FUNCTION public.note_step()`);
}

const steps = (before: string, after: string) =>
  world.sql<{ sent_at: Date | null }>("SELECT sent_at FROM public.steps WHERE before = $1 AND after = $2", [
    before,
    after,
  ]);
