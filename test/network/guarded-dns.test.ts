import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { openSession } from "../../lib/adapters/postgres/session/session.ts";
import { guardedFetch } from "../../lib/adapters/salesforce/guarded-fetch.ts";
import { refuseAddress } from "../../lib/adapters/webhook-client/addresses.ts";
import { PRODUCTION } from "../../lib/model/address.ts";
import { guardConnections, HostRefused } from "../../lib/network/guarded-dns.ts";
import { createTestDatabase, type TestDatabase } from "../support/worlds/postgres.ts";

let database: TestDatabase;
const server = createServer((_, response) => response.setHeader("Connection", "close").end("reached"));
beforeAll(async () => {
  database = await createTestDatabase();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  server.close();
  server.closeAllConnections();
  await database.close();
});
afterEach(() => guardConnections(() => null));

const open = (host: string, url = database.url) =>
  openSession({ url: url.replace("127.0.0.1", host).concat("?sslmode=disable"), schema: "salesforce" });
const ask = (host: string) => guardedFetch(`http://${host}:${(server.address() as AddressInfo).port}/`, {});
const inProduction = () => guardConnections((address) => refuseAddress(address, PRODUCTION));

describe("where a connection goes is judged when it is opened", () => {
  test("a name that led to a good address when it was saved, and to this machine's now, is not connected to", async () => {
    await (await open("localhost")).close();
    expect(await (await ask("localhost")).text()).toBe("reached");

    inProduction();

    await expect(open("localhost")).rejects.toThrow("the host localhost points to a loopback address");
    await expect(ask("localhost")).rejects.toMatchObject({ cause: expect.any(HostRefused) });
  });

  test.each([
    ["127.0.0.1", "a loopback address"],
    ["10.1.2.3", "a private address (RFC 1918)"],
    ["169.254.169.254", "a link-local or metadata address"],
    ["[::1]", "a loopback address"],
    ["[::ffff:10.0.0.1]", "a private address (RFC 1918)"],
    ["[fd00:ec2::254]", "a metadata address"],
  ])("a host that is written as the address %s is not asked at all: %s", async (host, what) => {
    inProduction();

    await expect(open(host)).rejects.toThrow(what);
    await expect(ask(host)).rejects.toMatchObject({ cause: { message: expect.stringContaining(what) } });
  });

  test("a range that the operator has opened is reached", async () => {
    guardConnections((address) => refuseAddress(address, { ...PRODUCTION, opened: ["127.0.0.0/8"] }));

    await (await open("127.0.0.1")).close();
    expect(await (await ask("127.0.0.1")).text()).toBe("reached");
  });
});
