import { once } from "node:events";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
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
  test("gives each write on its own, texts as texts, those of other encodings as bytes, and nothing for nothing", async () => {
    const stream = made();

    stream.write("");
    stream.write("grün");
    stream.write("67", "hex");
    stream.write(Buffer.from("bytes"));
    stream.end("end");

    expect(await Readable.prototype.toArray.call(stream)).toEqual([
      "grün",
      Buffer.from("g"),
      Buffer.from("bytes"),
      "end",
    ]);
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
    let taken = 0;
    while (stream.write("x")) taken++;

    const drained = once(stream, "drain");
    stream.read();
    await drained;

    expect(taken).toBeGreaterThan(0);
    expect(taken).toBeLessThan(10);
  });

  test("takes a stream that is piped into it, whole and at the reader's pace", async () => {
    const stream = made();
    let produced = 0;
    const source = Readable.from(
      (function* () {
        for (; produced < 100; produced++) yield `row ${produced}\n`;
      })(),
    );
    const piped = pipeline(source, stream);
    await once(stream, "readable");
    const producedUnread = produced;

    const rows = await Readable.prototype.toArray.call(stream);
    await piped;

    expect(rows).toHaveLength(100);
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
    for (let count = 0; count < 10; count++)
      stream.write("row", (error: unknown) => calledBack.push(error ?? "written"));
    await new Promise(setImmediate);
    const calledBackUnread = calledBack.length;

    for (let count = 0; count < 10; count++) stream.read();
    stream.write("row");
    stream.read();
    await new Promise(setImmediate);
    expect([calledBackUnread < 10, calledBack]).toEqual([true, Array.from({ length: 10 }, () => "written")]);

    for (let count = 0; count < 10; count++)
      stream.write("row", (error: unknown) => calledBack.push(error ?? "written"));
    stream.destroy();
    await new Promise(setImmediate);
    expect(calledBack).toHaveLength(20);
    expect(calledBack.at(-1)).toBeInstanceOf(Error);
  });

  test.each([[123], [{ a: 1 }], [null]])("refuses to write %j", (chunk) => {
    expect(() => made().write(chunk as unknown as string)).toThrow("only text and bytes can be written");
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

    const [written, ended] = await Promise.all([
      new Promise((resolve) => stream.write("late", resolve)),
      new Promise((resolve) => stream.end(resolve)),
    ]);

    expect([written, ended]).toEqual([expect.any(Error), expect.any(Error)]);
  });

  test("is freed by minor garbage collections once it was read", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as (options: { readonly type: "major" | "minor" }) => void;
    const answer = async () => {
      const stream = made();
      const held = Buffer.alloc(100_000);
      stream.on("close", () => held.fill(1));
      stream.end("row");
      stream.resume();
      await once(stream, "close");
    };
    await answer();
    collect({ type: "major" });
    const before = process.memoryUsage().arrayBuffers;

    for (let answered = 1; answered <= 150; answered++) {
      await answer();
      if (answered % 5 === 0) collect({ type: "minor" });
    }

    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(3_000_000);
  });
});
