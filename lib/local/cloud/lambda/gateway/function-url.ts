import { createServer, type IncomingMessage, type Server } from "node:http";
import type { Clock } from "../../../clock.ts";
import { MAXIMUM_PAYLOAD_BYTES } from "../invocation.ts";
import type { Invoker } from "../invoker.ts";
import type { Log } from "../log.ts";
import type { LambdaFunction } from "../template/functions.ts";
import { readRequest, TooLarge } from "./http-request.ts";
import { answerOf, type HttpAnswer, streamedAnswer } from "./proxy-answer.ts";
import { IDLE_MILLISECONDS } from "./servers.ts";
import { urlEvent } from "./url-event.ts";
import { writeAnswer } from "./write-answer.ts";

interface UrlSettings {
  readonly target: LambdaFunction;
  readonly invoker: Invoker;
  readonly clock: Clock;
  readonly log: Log;
}

/** A function's own URL: a listener of its own, as it is a host of its own on AWS. Every path reaches the function. */
export function createFunctionUrl(settings: UrlSettings): Server {
  return createServer({ keepAliveTimeout: IDLE_MILLISECONDS }, (incoming, response) => {
    answer(settings, incoming)
      .then((made) => writeAnswer(response, made))
      .catch((fault: Error) => {
        settings.log({ level: "error", event: "function url fault", message: fault.message });
        response.destroy();
      });
  });
}

async function answer({ target, invoker, clock, log }: UrlSettings, incoming: IncomingMessage): Promise<HttpAnswer> {
  let event: object;
  try {
    event = urlEvent(await readRequest(incoming, MAXIMUM_PAYLOAD_BYTES), target.name, clock.now());
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error;
    incoming.resume();
    return message(413, "Request Entity Too Large");
  }
  const outcome = await invoker.invoke(target, event);
  if (outcome.kind === "failed") return message(502, "Internal Server Error");
  try {
    return outcome.kind === "streaming" ? await streamedAnswer(outcome.stream) : answerOf(outcome, true);
  } catch (error) {
    log({ level: "error", event: "malformed response", function: target.name, message: (error as Error).message });
    return message(502, "Internal Server Error");
  }
}

const message = (status: number, text: string): HttpAnswer => ({
  status,
  headers: [],
  body: JSON.stringify({ Message: text }),
});
