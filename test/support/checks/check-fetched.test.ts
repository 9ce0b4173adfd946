import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { checkFetched, wrongAnswers } from "./check-fetched.ts";

/** A server that answers everything with this, as a Bridge would if it broke its promises. */
async function serverOf(body: object): Promise<string> {
  const server = createServer((_, answer) => {
    answer.writeHead(200, { "Content-Type": "application/json", RateLimit: '"ip";r=1;t=1' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("an answer that a client fetches and the API does not describe is reported, once", async () => {
  checkFetched();
  const url = await serverOf({ success: true, data: [{ surprise: 1 }] });

  await fetch(`${url}/api/v1/t/ws_1/mappings`);

  expect(await wrongAnswers()).toEqual([expect.stringContaining("list-mappings")]);
  expect(await wrongAnswers()).toEqual([]);
});

test("an answer as it is described is not", async () => {
  checkFetched();
  const url = await serverOf({ success: true, data: [] });

  await fetch(`${url}/api/v1/t/ws_1/mappings`);

  expect(await wrongAnswers()).toEqual([]);
});
