import type { Readable } from "node:stream";
import * as z from "zod/mini";
import { type Answered, received } from "../invocation.ts";

const scalar = z.union([z.string(), z.number(), z.boolean()]);

/** What a function may answer to a gateway: anything else is a malformed proxy response. */
const proxyResponse = z.object({
  statusCode: z.int().check(z.minimum(100), z.maximum(599)),
  headers: z.nullish(z.record(z.string(), scalar)),
  multiValueHeaders: z.nullish(z.record(z.string(), z.array(scalar))),
  cookies: z.optional(z.array(z.string())),
  body: z.nullish(z.string()),
  isBase64Encoded: z.optional(z.boolean()),
});

/** What is written to the client. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string | Buffer | Readable;
}

/** The answer that a function gave. Throws when it is none; `decodes` says whether base64 is undone. */
export function answerOf(answered: Answered, decodes: boolean): HttpAnswer {
  const response = proxyResponse.parse(received(answered));
  const isBytes = response.isBase64Encoded === true && decodes;
  const body = response.body ?? "";
  return {
    status: response.statusCode,
    headers: headersOf(response),
    body: isBytes ? Buffer.from(body, "base64") : body,
  };
}

const prelude = z.omit(proxyResponse, { body: true, isBase64Encoded: true });
const DELIMITER = Buffer.alloc(8);
const MAXIMUM_PRELUDE_BYTES = 16 * 1024;

/**
 * The answer that a stream begins with: JSON of status and headers, eight zero bytes, then the body as it comes. Rejects
 * when the beginning is not of that form, or the stream breaks off before it.
 */
export async function streamedAnswer(stream: Readable): Promise<HttpAnswer> {
  try {
    const response = prelude.parse(JSON.parse((await headOf(stream)).toString("utf8")));
    return { status: response.statusCode, headers: headersOf(response), body: stream };
  } catch (error) {
    stream.destroy();
    throw error;
  }
}

/** The bytes before the zeros; leaves the stream paused behind them. */
function headOf(stream: Readable): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let head = Buffer.alloc(0);
    const settle = () => {
      stream.off("readable", look).off("end", atEnd).off("error", broken);
    };
    const broken = (error: Error) => {
      settle();
      reject(error);
    };
    const atEnd = () => broken(new Error("the stream ended before its status and headers"));
    const look = () => {
      for (let chunk: Buffer | null = stream.read(); chunk !== null; chunk = stream.read()) {
        head = Buffer.concat([head, chunk]);
        const end = head.indexOf(DELIMITER);
        if (end >= 0) {
          settle();
          // In this turn: a stream that has ended takes nothing back in the next one.
          if (end + DELIMITER.length < head.length) stream.unshift(head.subarray(end + DELIMITER.length));
          return resolve(head.subarray(0, end));
        }
        if (head.length > MAXIMUM_PRELUDE_BYTES)
          return broken(new Error("the stream does not begin with status and headers"));
      }
    };
    stream.on("readable", look).on("end", atEnd).on("error", broken);
    if (stream.errored) broken(stream.errored);
    else if (stream.readableEnded) atEnd();
    else look();
  });
}

function headersOf({ headers, multiValueHeaders, cookies = [] }: z.infer<typeof prelude>): [string, string][] {
  const many = Object.entries(multiValueHeaders ?? {}).flatMap(([name, values]) =>
    values.map((value): [string, string] => [name, String(value)]),
  );
  const names = new Set(many.map(([name]) => name.toLowerCase()));
  const single = Object.entries(headers ?? {}).filter(([name]) => !names.has(name.toLowerCase()));
  return [
    ...single.map(([name, value]): [string, string] => [name, String(value)]),
    ...many,
    ...cookies.map((cookie): [string, string] => ["Set-Cookie", cookie]),
  ];
}
