import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { ASKING } from "../../network/sdk-timeouts.ts";

/** Sends an operation's input and gives its answer as DynamoDB wrote it, or as `bySdk` does. */
export type PlainRequest = <Answer>(operation: string, input: object, bySdk: () => Promise<Answer>) => Promise<Answer>;

type Config = DynamoDBClient["config"];
type Request = Parameters<Config["requestHandler"]["handle"]>[0];
type Signer = Awaited<ReturnType<Config["signer"]>>;

/** One second is what an answer takes at most; the SDK's own patience begins when this one has ended. */
const PATIENCE = { requestTimeout: 1_000 };

/**
 * Requests over the SDK's connections, signed by its signer, and past all else that it does for each: that takes as long
 * as to send one and to read a page in its answer. The first one goes by the SDK, which finds out where to. What is not
 * answered with 200 the SDK asks again, so that retries, wrong clocks and the names of errors stay its own. Answers hold
 * texts and numbers alone: bytes would come as they were sent, in base64.
 */
export function plainRequests(client: DynamoDBClient): PlainRequest {
  const { config } = client;
  const first: { request?: Request; signer?: Promise<Signer> } = {};
  client.middlewareStack.add(
    (next) => (asked) => {
      first.request ??= asked.request as Request;
      return next(asked);
    },
    { step: "finalizeRequest", priority: "low", name: "learnWhereTo" },
  );

  /** Null when it is not answered with 200; rejects when it is not answered. */
  const ask = async ({ protocol, hostname, port, path }: Request, operation: string, body: string) => {
    const headers = {
      host: port === undefined ? hostname : `${hostname}:${port}`,
      "content-type": "application/x-amz-json-1.0",
      "content-length": String(Buffer.byteLength(body)),
      "x-amz-target": `DynamoDB_20120810.${operation}`,
    };
    const request = { method: "POST", protocol, hostname, port, path, query: {}, headers, body };
    first.signer ??= config.signer();
    const signingDate = new Date(Date.now() + config.systemClockOffset);
    const signed = await (await first.signer).sign(request, { signingDate });
    const { response } = await config.requestHandler.handle(signed as Request, PATIENCE);
    const bytes = await ASKING.streamCollector(response.body);
    return response.statusCode === 200 ? (JSON.parse(new TextDecoder().decode(bytes)) as unknown) : null;
  };

  return async <Answer>(operation: string, input: object, bySdk: () => Promise<Answer>): Promise<Answer> => {
    if (first.request === undefined) return bySdk();
    const answer = await ask(first.request, operation, JSON.stringify(input)).catch(() => null);
    return answer === null ? bySdk() : (answer as Answer);
  };
}
