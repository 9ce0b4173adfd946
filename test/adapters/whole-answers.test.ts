import diagnostics from "node:diagnostics_channel";
import { type ClientRequest, createServer, type RequestListener, type Server } from "node:http";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { GetCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openDatabase } from "../../lib/adapters/dynamodb/client/client.ts";
import { listen } from "./listen.ts";

const ANSWER = JSON.stringify({ Item: { text: { S: `Ärger 🚣 ${"x".repeat(200_000)}` } } });

let server: Server;
let answer: RequestListener;
beforeEach(async () => {
  server = createServer((request, response) => {
    request.resume().once("end", () => answer(request, response));
  });
  vi.stubEnv("AWS_ENDPOINT_URL", `http://127.0.0.1:${await listen(server)}`);
  const others = { AWS_REGION: "us-east-1", AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b" };
  for (const [name, value] of Object.entries(others)) vi.stubEnv(name, value);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const asks = () => {
  const { client } = openDatabase(() => "t");
  return async () => (await client.send(new GetCommand({ TableName: "t", Key: { pk: "1" } }))).Item?.["text"];
};

test("an answer in many pieces, cut within a character, is read whole", async () => {
  answer = (_, response) => {
    const bytes = Buffer.from(ANSWER);
    const cut = bytes.indexOf("🚣") + 2;
    response.write(bytes.subarray(0, cut), () => response.end(bytes.subarray(cut)));
  };
  expect(await asks()()).toBe(`Ärger 🚣 ${"x".repeat(200_000)}`);
});

/** The client loses the next answer before it is read. */
function loseNext(): void {
  const lose = (message: unknown) => {
    const { request } = message as { readonly request: ClientRequest };
    diagnostics.unsubscribe("http.client.request.created", lose);
    request.prependOnceListener("response", () => request.destroy(new Error("the answer is lost")));
  };
  diagnostics.subscribe("http.client.request.created", lose);
}

test.each([
  ["a long answer that is gone before it is read", ANSWER, loseNext],
  ["a short one, which is there as a whole", JSON.stringify({ Item: { text: { S: "Ärger" } } }), loseNext],
  ["one that breaks off", ANSWER, null],
])("%s is asked for again", async (_, body, lose) => {
  let asked = 0;
  answer = (_, response) => {
    asked += 1;
    response.setHeader("content-length", Buffer.byteLength(body));
    if (asked === 1 && lose === null) response.write(body.slice(0, 1_000), () => response.destroy());
    else response.end(body);
  };
  lose?.();

  expect(await asks()()).toContain("Ärger");

  expect(asked).toBe(2);
});

test("what was read is freed by a minor garbage collection", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as (options: { readonly type: "major" | "minor" }) => void;
  answer = (_, response) => response.end(ANSWER);
  const ask = asks();
  await ask();
  collect({ type: "major" });
  const before = process.memoryUsage().arrayBuffers;
  for (let asked = 1; asked <= 150; asked += 1) {
    await ask();
    if (asked % 5 === 0) collect({ type: "minor" });
  }
  // 150 answers come to 30 MB, on which V8 would not collect everything yet.
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8_000_000);
});
