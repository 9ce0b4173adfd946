import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { checkFetched, wrongAnswers } from "./check-fetched.ts";

test("an answer that a client fetches and the API does not describe is reported, once, and one as described is not", async () => {
  const bodies = [
    { success: true, data: [] },
    { success: true, data: [{ surprise: 1 }] },
  ];
  const server = createServer((_, answer) => {
    const headers = { "Content-Type": "application/json", RateLimit: '"ip";r=1;t=1' };
    answer.writeHead(200, headers).end(JSON.stringify(bodies.shift()));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/t/ws_1/mappings`;
  checkFetched();

  await fetch(url);
  expect(await wrongAnswers()).toEqual([]);
  await fetch(url);
  expect(await wrongAnswers()).toEqual([expect.stringContaining("list-mappings")]);
  expect(await wrongAnswers()).toEqual([]);
});
