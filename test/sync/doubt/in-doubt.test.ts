import { describe, expect, test } from "vitest";
import { retryFailed } from "../../../lib/adapters/postgres/operations/operations.ts";
import { rowQueriesOf } from "../../../lib/adapters/postgres/operations/row-operations.ts";
import { keepSessions } from "../../../lib/adapters/postgres/session/request-session.ts";
import { eachInAWorld, LOST, NEVER_ARRIVED, world } from "../world.ts";

const ELEVEN_MINUTES = 11 * 60;
const SIX_MINUTES = 6 * 60;

eachInAWorld(() => world.mapContact(["Department", "Email", "LastName"]));

const rows = () =>
  world.sql("SELECT lastname, email, department, sfid, _ab_lastop FROM salesforce.contact ORDER BY id");
const records = () => world.soql("SELECT Id, LastName, Email, Department FROM Contact ORDER BY Id");
const changes = () => world.changes("action, state, sf_message");
const inserted = (lastname: string) =>
  world.sql("INSERT INTO salesforce.contact (lastname, email) VALUES ($1, 'a@example.com')", [lastname]);
const heldBack = () => world.sql("SELECT sfid, error FROM salesforce._bridge_inbound_errors ORDER BY sfid");

async function lostInsert(lastname: string): Promise<string> {
  await inserted(lastname);
  await world.fault(LOST);
  await world.cycles();
  const found = (await records()).find((record) => record["LastName"] === lastname);
  return String(found?.["Id"]);
}

const changedThere = (id: string, values: object) => world.colleague("PATCH", `/sobjects/Contact/${id}`, values);

async function untilTheDoubtEnds(): Promise<void> {
  await world.cycles();
  await world.pass(ELEVEN_MINUTES);
  await world.cycles();
}

/** What the operator retries, as the settings area does. */
async function retry(): Promise<void> {
  const [first] = await world.sql("SELECT id FROM salesforce._trigger_log WHERE state = 'FAILED' ORDER BY id");
  await retryFailed(
    keepSessions(() => new Date()).take({ url: world.databaseUrl, schema: "salesforce" }),
    "salesforce",
    world.contact.id,
    [Number(first?.["id"])],
  );
}

describe("an insert without an upsert field whose answer was lost, and whose record a user has changed since", () => {
  test("is not sent again and gets no second row: it ends FAILED, names the record and says what to do, as long as row and record are there", async () => {
    const [left, gone] = [await lostInsert("Sklodowska"), await lostInsert("Joliot")];
    await changedThere(left, { LastName: "Curie" });
    await changedThere(gone, { LastName: "Curie" });

    await untilTheDoubtEnds();
    await world.pass(SIX_MINUTES);
    await world.cycles();

    expect(await records()).toHaveLength(2);
    expect(await rows()).toMatchObject([
      { lastname: "Sklodowska", sfid: null, _ab_lastop: "FAILED" },
      { lastname: "Joliot", sfid: null, _ab_lastop: "FAILED" },
    ]);
    for (const { state, sf_message: message } of await changes()) {
      expect({ state, message }).toMatchObject({ state: "FAILED", message: expect.stringMatching(/^IN_DOUBT: /) });
      for (const part of [left, gone, "set the row's sfid"]) expect(message).toContain(part);
    }
    const error = expect.stringMatching(/^IN_DOUBT: /);
    expect(await heldBack()).toMatchObject([left, gone].toSorted().map((sfid) => ({ sfid, error })));

    await world.colleague("DELETE", `/sobjects/Contact/${gone}`);
    await world.control("DELETE", "/recycle-bin");
    await world.pass(SIX_MINUTES);
    await world.cycles();

    expect(await heldBack(), "what was deleted for good is waited for no longer").toMatchObject([{ sfid: left }]);
    await world.sql("DELETE FROM salesforce.contact");
    await world.cycles();
    await world.pass(SIX_MINUTES);
    await world.cycles();

    expect(await records()).toMatchObject([{ Id: left }]);
    expect(await rows(), "a record whose row was deleted gets one of its own").toMatchObject([
      { lastname: "Curie", sfid: left },
    ]);
    expect(await heldBack()).toEqual([]);
  });

  test("loses nothing of either side between the sfid and the retry, nor of what its row was changed to since", async () => {
    const id = await lostInsert("Sklodowska");
    await changedThere(id, { LastName: "Curie" });
    await untilTheDoubtEnds();
    await world.sql("UPDATE salesforce.contact SET email = 'new@example.com'");
    await world.cycles();

    await world.sql("UPDATE salesforce.contact SET sfid = $1", [id]);
    await world.pass(SIX_MINUTES);
    await world.cycles();
    const between = await rows();
    await changedThere(id, { Department: "Radium" });
    await world.cycles();
    await retry();
    await world.cycles(2);

    expect(between).toMatchObject([{ lastname: "Sklodowska", email: "new@example.com" }]);
    const both = { lastname: "Curie", email: "new@example.com", department: "Radium", sfid: id };
    expect(await rows()).toMatchObject([both]);
    expect(await records()).toEqual([{ Id: id, LastName: "Curie", Email: "new@example.com", Department: "Radium" }]);
    expect(await heldBack()).toEqual([]);
  });

  test("is left to a person by a retry of everything that failed, and sent as new by one of its own: the other record gets a row", async () => {
    const id = await lostInsert("Sklodowska");
    await changedThere(id, { LastName: "Curie" });
    await untilTheDoubtEnds();
    const connection = { url: world.databaseUrl, schema: "salesforce" };
    const queries = await rowQueriesOf(() => new Date(world.cloud.clock.now())).open(connection);
    const [kind] = await queries.failures(null);

    const everything = await queries.findFailed({ id: null, fingerprint: null, table: null }, 10);
    const ofKind = await queries.findFailed({ id: null, fingerprint: kind?.fingerprint ?? "", table: null }, 10);
    const one = await queries.findFailed({ id: 1, fingerprint: null, table: null }, 10);
    expect([everything.total, ofKind.total, one.total]).toEqual([0, 1, 1]);

    await retry();
    await world.cycles();

    const all = await records();
    expect(all.map(({ LastName }) => LastName)).toEqual(["Curie", "Sklodowska"]);
    expect((await rows()).map(({ lastname, sfid }) => [lastname, sfid]).sort()).toEqual(
      all.map(({ LastName, Id }) => [LastName, Id]),
    );
    expect(await world.states()).toEqual(["SUCCESS"]);
  });

  test("loses nothing when its cycle is stopped between the claim of a newer change and the look-up", async () => {
    const id = await lostInsert("Sklodowska");
    await changedThere(id, { LastName: "Curie" });
    await untilTheDoubtEnds();
    await world.sql("UPDATE salesforce.contact SET department = 'Physics'");
    let hasClaimed = false;
    world.interfere((call) => {
      if (call === "org.query" && hasClaimed) throw new Error("killed");
      hasClaimed ||= call === "store.claim";
    });
    await world.cycles();
    world.interfere(null);

    await world.cycles(2);

    expect(await records()).toHaveLength(1);
    const naming = expect.stringContaining(id);
    expect(await changes(), "neither is sent, and both say why").toMatchObject([
      { action: "INSERT", state: "FAILED", sf_message: naming },
      { action: "UPDATE", state: "FAILED", sf_message: naming },
    ]);
  });
});

describe("while an insert is in doubt", () => {
  test("a record that another user creates gets its row at once, even when it is equal, and one of our user's waits", async () => {
    const id = await lostInsert("Curie");
    await changedThere(id, { Department: "Radium" }); // a field that was not sent
    await world.rest("POST", "/sobjects/Contact", { LastName: "Noether" });
    await world.colleague("POST", "/sobjects/Contact", { LastName: "Meitner" });
    await world.colleague("POST", "/sobjects/Contact", { LastName: "Curie", Email: "a@example.com" });
    const names = async () => (await rows()).map(({ lastname }) => lastname);

    await world.cycles();
    expect(await names()).toEqual(["Curie", "Meitner", "Curie"]);
    await untilTheDoubtEnds();
    await world.pass(SIX_MINUTES);
    await world.cycles();

    expect(await names()).toEqual(["Curie", "Meitner", "Curie", "Noether"]);
    expect((await rows())[0]).toMatchObject({ sfid: id, department: "Radium" });
    expect(await records()).toHaveLength(4);
    expect(await world.states()).toEqual(["SUCCESS"]);
    expect(await heldBack()).toEqual([]);
  });

  test("an equal record of another user, which a mapping that only pushes gives no row, is not mistaken for its record", async () => {
    const asked = { object: "Account", fields: ["Name"], bridge: { sync_direction: "pg_to_sf" } };
    await world.map(asked);
    const account = await world.mappingOf("Account");
    await world.sql("INSERT INTO salesforce.account (name) VALUES ('Acme')");
    await world.fault(LOST);
    await world.cycles(1, account);
    const [ours] = await world.soql("SELECT Id FROM Account");
    await world.colleague("POST", "/sobjects/Account", { Name: "Acme" });

    await world.pass(ELEVEN_MINUTES);
    await world.cycles(1, account);

    expect(await world.sql("SELECT sfid FROM salesforce.account")).toEqual([{ sfid: ours?.["Id"] }]);
    expect(await world.states()).toEqual(["SUCCESS"]);
  });

  test("of two the one with more values finds its own record first, so that the other's is clear", async () => {
    await world.sql(
      "INSERT INTO salesforce.contact (lastname, email) VALUES ('Curie', NULL), ('Curie', 'b@example.com')",
    );
    await world.fault(LOST);
    await untilTheDoubtEnds();

    expect(await world.states()).toEqual(["SUCCESS", "SUCCESS"]);
    expect((await records()).map(({ Id, Email }) => [Email, Id])).toEqual(
      (await rows()).map(({ email, sfid }) => [email, sfid]),
    );
  });

  test("a later insert's record is not mistaken for it", async () => {
    await inserted("Curie");
    await world.fault(NEVER_ARRIVED);
    await world.cycles();
    await world.pass(SIX_MINUTES);
    await lostInsert("Meitner");

    await world.pass(SIX_MINUTES);
    await world.cycles();
    await world.pass(SIX_MINUTES);
    await world.cycles();

    expect((await records()).map(({ LastName }) => LastName)).toEqual(["Meitner", "Curie"]);
    expect(await world.states()).toEqual(["SUCCESS", "SUCCESS"]);
  });
});
