import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { streamedAnswer } from "../../../../../lib/local/cloud/lambda/gateway/proxy-answer.ts";
import { writeAnswer } from "../../../../../lib/local/cloud/lambda/gateway/write-answer.ts";

test.each(["", "all of it"])("a streamed answer that comes and ends in one piece is whole: %j", async (body) => {
  const server = createServer(async (_, response) => {
    const stream = new PassThrough();
    const answer = streamedAnswer(stream);
    stream.end(Buffer.concat([Buffer.from('{"statusCode":201}'), Buffer.alloc(8), Buffer.from(body)]));
    writeAnswer(response, await answer);
  });
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");

  const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);

  expect([answer.status, await answer.text()]).toEqual([201, body]);
});
