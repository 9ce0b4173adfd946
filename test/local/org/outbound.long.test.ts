import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { ManualClock, openOrg } from "./support/open-org.ts";

const ACK =
  '<Envelope><Body><notificationsResponse xmlns="http://soap.sforce.com/2005/09/outbound"><Ack>true</Ack></notificationsResponse></Body></Envelope>';

/** A receiver that acknowledges or not, and shows when a message has come. */
async function receiver() {
  const came: string[] = [];
  const waiting: (() => void)[] = [];
  const state = { acknowledges: true };
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on("end", () => {
      came.push(body);
      response.writeHead(state.acknowledges ? 200 : 503).end(ACK);
      for (const tell of waiting.splice(0)) tell();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const until = async (messages: number) => {
    while (came.length < messages) await new Promise<void>((resolve) => void waiting.push(resolve));
  };
  return { came, state, until, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/ring` };
}

const START = "2026-02-03T04:05:06Z";

const idsIn = (body = "") => [...body.matchAll(/<sf:Id>(\w+)</g)].map(([, id]) => id);

test("records that were saved are reported in messages of up to a hundred, in the words of an outbound message", async () => {
  const org = await openOrg({ clock: new ManualClock(START) });
  const { url, came, until } = await receiver();
  await org.call("PUT", "/_sim/outbound", { messages: [{ object: "contact", url }] });

  await org.create("Account", { Name: "Unheard" });
  const id = await org.create("Contact", { LastName: "Ada" });
  await until(1);
  const records = Array.from({ length: 150 }, (_, at) => ({ attributes: { type: "Contact" }, LastName: `L${at}` }));
  await org.call("POST", "composite/sobjects", { records });
  await until(3);

  expect(idsIn(came[0])).toEqual([id]);
  expect(came[0]).toMatch(
    /<notifications xmlns="http:\/\/soap.sforce.com\/2005\/09\/outbound"><OrganizationId>00D\w+</,
  );
  expect([idsIn(came[1]).length, idsIn(came[2]).length]).toEqual([100, 50]);
});

test("an unacknowledged message comes again with growing pauses, and is dropped after a day", async () => {
  const clock = new ManualClock(START);
  const org = await openOrg({ clock });
  const { url, came, until, state } = await receiver();
  state.acknowledges = false;
  await org.call("PUT", "/_sim/outbound", { messages: [{ object: "Contact", url }] });
  await org.create("Contact", { LastName: "Ada" });

  const pauses: number[] = [];
  for (let message = 1; message <= 5; message += 1) {
    await until(message);
    await clock.sleepers(1);
    const { nextAt } = (await org.get("/_sim/outbound")).json;
    pauses.push(Date.parse(String(nextAt)) - clock.now().getTime());
    clock.pass(pauses.at(-1) ?? 0);
  }
  await until(6);
  await clock.sleepers(1);
  state.acknowledges = true;
  clock.pass(24 * 3_600_000);
  const id = await org.create("Contact", { LastName: "Grace" });
  await until(7);

  expect(pauses).toEqual([5_000, 10_000, 20_000, 40_000, 80_000]);
  expect(idsIn(came[6])).toEqual([id]);
  expect((await org.get("/_sim/outbound")).json).toMatchObject({ dropped: 1 });
});
