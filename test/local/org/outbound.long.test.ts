import { expect, onTestFinished, test } from "vitest";
import { startReceiver } from "../../support/doubles/receiver.ts";
import { ManualClock, openOrg } from "./support/open-org.ts";

const ACK =
  '<Envelope><Body><notificationsResponse xmlns="http://soap.sforce.com/2005/09/outbound"><Ack>true</Ack></notificationsResponse></Body></Envelope>';

const idsIn = (body = "") => [...body.matchAll(/<sf:Id>(\w+)</g)].map(([, id]) => id);

test("records that were saved are reported a hundred in a message; one that is not acknowledged comes again with growing pauses, for a day", async () => {
  const clock = new ManualClock();
  const org = await openOrg({ clock });
  const acknowledgement = { status: 200, body: ACK };
  const { url, received, has, answer, close } = await startReceiver(acknowledgement);
  onTestFinished(close);
  await org.call("PUT", "/_sim/outbound", { messages: [{ object: "contact", url }] });

  await org.create("Account", { Name: "Unheard" });
  const records = Array.from({ length: 150 }, (_, at) => ({ attributes: { type: "Contact" }, LastName: `L${at}` }));
  await org.call("POST", "composite/sobjects", { records });
  await has(2);
  expect(received.map(({ body }) => idsIn(body).length)).toEqual([100, 50]);

  answer(503);
  await org.create("Contact", { LastName: "Ada" });
  const pauses: number[] = [];
  for (let message = 3; message <= 7; message += 1) {
    await has(message);
    await clock.sleepers(1);
    const { nextAt } = (await org.get("/_sim/outbound")).json;
    pauses.push(Date.parse(String(nextAt)) - clock.now().getTime());
    clock.pass(pauses.at(-1) ?? 0);
  }
  await has(8);
  await clock.sleepers(1);
  answer(acknowledgement);
  clock.pass(24 * 3_600_000);
  const id = await org.create("Contact", { LastName: "Grace" });
  await has(9);

  expect(pauses).toEqual([5_000, 10_000, 20_000, 40_000, 80_000]);
  expect(idsIn(received[8]?.body)).toEqual([id]);
  expect((await org.get("/_sim/outbound")).json).toMatchObject({ dropped: 1 });
});
