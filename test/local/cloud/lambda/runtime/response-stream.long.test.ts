import { once } from "node:events";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { describe, expect, test } from "vitest";
import { ResponseStream } from "../../../../../lib/local/cloud/lambda/runtime/response-stream.ts";

const made = (): ResponseStream => new ResponseStream(() => undefined);

async function* rowsWithoutEnd(ended: () => void): AsyncGenerator<string> {
  try {
    for (;;) yield "row";
  } finally {
    ended();
  }
}

describe("what a streaming handler writes to", () => {
  test("gives what was written whole, texts, bytes and texts of other encodings, and nothing for nothing", async () => {
    const stream = made();

    stream.write("");
    stream.write("grün ");
    stream.write("67", "hex");
    stream.write(Buffer.from(" bytes "));
    stream.end("end");

    expect(await text(stream)).toBe("grün g bytes end");
  });

  test("sends what is due before its first write, even before a write of nothing, and begins once", async () => {
    const begun: string[] = [];
    const stream = new ResponseStream(({ contentType }) => begun.push(contentType));
    stream.setContentType("text/csv");
    stream._onBeforeFirstWrite = (write) => write("due ");

    stream.write("");
    stream.write("written");
    stream.end();

    expect(await text(stream)).toBe("due written");
    expect(begun).toEqual(["text/csv"]);
    expect(() => stream.setContentType("text/html")).toThrow("too late");
  });

  test("calls back the writer that ends it when all is written, before it closes", async () => {
    const stream = made();
    const seen: string[] = [];
    for (const event of ["finish", "end", "close"]) stream.on(event, () => seen.push(event));

    stream.end("all", () => seen.push("called back"));
    stream.resume();
    await once(stream, "close");

    expect(seen).toEqual(["called back", "finish", "end", "close"]);
    expect([stream.writable, stream.writableEnded, stream.writableFinished]).toEqual([false, true, true]);
  });

  test("asks a fast writer to wait, and calls it when there is room", async () => {
    const stream = made();
    let written = 0;
    while (stream.write("x".repeat(1000))) written++;

    const drained = once(stream, "drain");
    stream.resume();
    await drained;

    expect(written).toBeGreaterThan(0);
    expect(written).toBeLessThan(1000);
  });

  test("takes a stream that is piped into it, whole and at the reader's pace", async () => {
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

    const whole = await text(stream);
    await piped;

    expect(whole).toHaveLength(1_000_000);
    expect(producedUnread).toBeLessThan(50);
  });

  test.each<[string, (ended: () => void) => AsyncIterable<string> | ReadableStream | Readable]>([
    ["stream", (ended) => new Readable({ read: () => undefined }).on("close", ended)],
    ["web stream", (ended) => new ReadableStream({ pull: (to) => to.enqueue("row"), cancel: ended })],
    ["generator", rowsWithoutEnd],
  ])("ends the %s that is piped into it when the reader goes away", async (_, sourceOf) => {
    const stream = made();
    const ended = Promise.withResolvers<void>();
    const piped = pipeline(sourceOf(ended.resolve) as Readable, stream);

    stream.destroy();

    await expect(piped).rejects.toMatchObject({ code: "ERR_STREAM_PREMATURE_CLOSE" });
    await ended.promise;
  });

  test("calls back each write beyond the buffer when there is room, or with the error", async () => {
    const stream = made();
    const calledBack: unknown[] = [];
    const write = () => stream.write("x".repeat(10_000), (error: unknown) => calledBack.push(error ?? "written"));
    for (let count = 0; count < 10; count++) write();
    await new Promise(setImmediate);
    const calledBackUnread = calledBack.length;

    while (stream.read() !== null) await new Promise(setImmediate);
    expect([calledBackUnread < 10, calledBack]).toEqual([true, Array.from({ length: 10 }, () => "written")]);

    for (let count = 0; count < 10; count++) write();
    stream.destroy();
    await new Promise(setImmediate);
    expect(calledBack).toHaveLength(20);
    expect(calledBack.some((error) => error instanceof Error)).toBe(true);
  });

  test.each([[123], [{ a: 1 }], [null]])("refuses to write %j", (chunk) => {
    expect(() => made().write(chunk as unknown as string)).toThrow(TypeError);
  });

  test("breaks off with the error of the stream that is piped into it", async () => {
    const stream = made();
    const broken = once(stream, "error");
    const source = new Readable({ read: () => source.destroy(new Error("the table is gone")) });

    await expect(pipeline(source, stream)).rejects.toThrow("the table is gone");
    expect((await broken)[0]).toMatchObject({ message: "the table is gone" });
  });

  test.each<[string, (stream: ResponseStream) => unknown]>([
    ["ended", (stream) => stream.end()],
    ["destroyed", (stream) => stream.destroy()],
  ])("fails a write to one that was %s", async (_, over) => {
    const stream = made().on("error", () => undefined);
    over(stream);

    const written = await new Promise((resolve) => stream.write("late", resolve));

    expect(written).toBeInstanceOf(Error);
  });
});
