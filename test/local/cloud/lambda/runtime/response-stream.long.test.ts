import { once } from "node:events";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { expect, test } from "vitest";
import { ResponseStream } from "../../../../../lib/local/cloud/lambda/runtime/response-stream.ts";

const made = (): ResponseStream => new ResponseStream(() => undefined);

test("a stream gives what was written whole, what is due before it first, and begins once", async () => {
  const begun: string[] = [];
  const stream = new ResponseStream(({ contentType }) => begun.push(contentType));
  stream.setContentType("text/csv");
  stream._onBeforeFirstWrite = (write) => write("due ");

  stream.write("");
  stream.write("grün ");
  stream.write("67", "hex");
  stream.write(Buffer.from(" bytes "));
  stream.end("end");

  expect(await text(stream)).toBe("due grün g bytes end");
  expect(begun).toEqual(["text/csv"]);
  expect(() => stream.setContentType("text/html")).toThrow("too late");
});

test("a stream takes what is piped into it at the reader's pace, and breaks off with its error", async () => {
  const stream = made();
  let produced = 0;
  const source = Readable.from(
    (function* () {
      for (; produced < 100; produced++) yield "x".repeat(10_000);
    })(),
  );
  const piped = pipeline(source, stream);
  await once(stream, "readable");
  const producedUnread = produced;
  expect(await text(stream)).toHaveLength(1_000_000);
  await piped;
  expect(producedUnread).toBeLessThan(50);

  const broken = made();
  const said = once(broken, "error");
  const breaking = new Readable({ read: () => breaking.destroy(new Error("the table is gone")) });
  await expect(pipeline(breaking, broken)).rejects.toThrow("the table is gone");
  expect((await said)[0]).toMatchObject({ message: "the table is gone" });
});

test("a stream whose reader goes away ends what is piped into it, and fails what is written to it later", async () => {
  const stream = made().on("error", () => undefined);
  const ended = Promise.withResolvers<void>();
  const piped = pipeline(new Readable({ read: () => undefined }).on("close", ended.resolve), stream);

  stream.destroy();

  await expect(piped).rejects.toMatchObject({ code: "ERR_STREAM_PREMATURE_CLOSE" });
  await ended.promise;
  expect(await new Promise((resolve) => stream.write("late", resolve))).toBeInstanceOf(Error);
  expect(() => made().write(123 as unknown as string)).toThrow(TypeError);
});
