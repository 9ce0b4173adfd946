import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "vitest";
import { migrate } from "../../../lib/adapters/postgres/schema/migrate.ts";
import { openSession } from "../../../lib/adapters/postgres/session/session.ts";
import { startBreakingRelay } from "../../support/doubles/breaking-relay.ts";
import { herokuConnectSchema } from "../../support/worlds/heroku-connect.ts";
import { column, contactShape, mappingOf } from "../../support/worlds/shapes.ts";
import { type Customer, createCustomer } from "./customer.ts";

const SHAPE = contactShape({ columns: [column("Email"), column("LastName")] });
const MORE_THAN_ENOUGH = 100;

test("killed between any two of its statements, either Heroku Connect's triggers capture or ours, and what waits is taken once", {
  timeout: 300_000,
}, async () => {
  let spare = startWorker();
  const kills: number[] = [];
  for (let nth = 1; nth < MORE_THAN_ENOUGH; nth++) {
    const customer = await theirDatabase();
    const worker = spare;
    spare = startWorker();
    const wasKilled = await killBefore(worker, nth, customer);
    if (wasKilled) kills.push(nth);

    await customer.sql("UPDATE salesforce.contact SET email = 'after' WHERE lastname = 'First'");
    const captured = await capturedWith(customer, "after");
    await adopt(customer);
    await customer.provision();
    await customer.sql("UPDATE salesforce.contact SET email = 'in the end' WHERE lastname = 'First'");
    const taken = await customer.sql(`SELECT "values" ->> 'email' AS email FROM salesforce._trigger_log ORDER BY id`);
    const left = await customer.sql("SELECT FROM salesforce._hc_trigger_log WHERE state = 'NEW'");
    await customer.close();

    expect({ nth, captured }).toEqual({ nth, captured: 1 });
    expect({ nth, taken: taken.map(({ email }) => email) }).toEqual({
      nth,
      taken: [null, "before", "after", "in the end"],
    });
    expect({ nth, left }).toEqual({ nth, left: [] });
    if (!wasKilled) break;
  }
  spare.kill("SIGKILL");

  expect(kills.length).toBeGreaterThan(20);
});

function startWorker(): ChildProcess {
  return fork(join(import.meta.dirname, "../../support/processes/adopt-worker.ts"));
}

/** One row, and what Heroku Connect has captured of it: an insert and an update that wait. */
async function theirDatabase(): Promise<Customer> {
  const customer = await createCustomer({ shape: SHAPE, provisioned: false });
  await customer.sql(
    herokuConnectSchema([{ table: "contact", columns: { email: "varchar(80)", lastname: "varchar(80)" } }]),
  );
  await customer.sql("INSERT INTO salesforce.contact (lastname) VALUES ('First')");
  await customer.sql("UPDATE salesforce.contact SET email = 'before'");
  return customer;
}

/** False when it came to its end before. */
async function killBefore(worker: ChildProcess, nth: number, customer: Customer): Promise<boolean> {
  const relay = await startBreakingRelay(customer.url);
  relay.breakBefore(nth, () => worker.kill("SIGKILL"));
  worker.send({ url: relay.url, mapping: mappingOf(SHAPE), shape: SHAPE });
  const [code, signal] = await once(worker, "exit");
  await relay.close();
  if (!relay.isBroken && code !== 0) throw new Error(`the worker ended by itself with ${code ?? signal}`);
  return relay.isBroken;
}

/** How many waiting changes hold this text, wherever they stand. */
async function capturedWith(customer: Customer, text: string): Promise<number> {
  const logs = await customer.sql(
    "SELECT relname FROM pg_class WHERE relnamespace = 'salesforce'::regnamespace AND relkind = 'r' AND relname IN ('_trigger_log', '_hc_trigger_log')",
  );
  const counts = await Promise.all(
    logs.map(({ relname }) =>
      customer.sql(
        `SELECT count(*)::int AS n FROM salesforce.${relname} WHERE state = 'NEW' AND "values"::text LIKE '%"${text}"%'`,
      ),
    ),
  );
  return counts.reduce((sum, [row]) => sum + Number(row?.["n"]), 0);
}

async function adopt(customer: Customer): Promise<void> {
  const session = await openSession({ url: customer.url, schema: "salesforce" });
  await migrate(session, "salesforce", "w_1", { adopts: true }).finally(() => session.close());
}
