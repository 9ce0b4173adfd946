import type { Clock } from "../../../clock.ts";
import type { Sqs } from "../../sqs/sqs.ts";
import { chainOf, isStopped, MOST_CALLS } from "../chain.ts";
import { travelled } from "../invocation.ts";
import type { Invoker } from "../invoker.ts";
import type { Log, LogLine } from "../log.ts";
import type { LambdaFunction } from "../template/functions.ts";
import { batchEvent, failedMessages, type Message, splitBySize } from "./batch.ts";

/** A queue that feeds a function, as the template maps it. */
export interface EventSource {
  readonly queueArn: string;
  readonly target: LambdaFunction;
  readonly batchSize: number;
  readonly windowSeconds: number;
  /** How many batches may be at work at once. */
  readonly maximumConcurrency: number;
  /** The function names the messages that failed; else one error fails the batch and anything else succeeds. */
  readonly reportsFailures: boolean;
}

interface PollerSettings {
  readonly sqs: Sqs;
  readonly clock: Clock;
  readonly invoker: Invoker;
  readonly log: Log;
  /** Loops that receive, of which each gathers batches of its own: 1 unless given; Lambda has five. */
  readonly pollers?: number | undefined;
}

/** The polling of one event source. */
export interface Poller {
  /** True while a message is due or at work; a batch that fills within its window waits for its time. */
  isBusy(): boolean;
  /** Resolves at the next change of what is at work. */
  changed(): Promise<void>;
  /** Receives nothing more and waits for the batches at work. */
  stop(): Promise<void>;
}

const LONG_POLL_SECONDS = 20;
const PER_RECEIVE = 10;
const PAUSE_AFTER_FAULT_MILLISECONDS = 1000;

/**
 * Polls a queue and invokes its function with batches. Messages that succeed are deleted; others come back when their
 * visibility ends. After a batch that failed whole, half as many batches run at once, and one more with each success.
 */
export function startPolling(source: EventSource, settings: PollerSettings): Poller {
  const { sqs, clock, log, pollers = 1 } = settings;
  const url = urlOf(source, sqs);
  const stopping = new AbortController();
  const state = {
    atWork: 0,
    gathering: 0,
    windowEnds: 0,
    allowed: source.maximumConcurrency,
    waiting: [] as Array<() => void>,
  };

  const changed = () => new Promise<void>((resolve) => state.waiting.push(resolve));
  const announce = () => {
    for (const resolve of state.waiting.splice(0)) resolve();
  };
  const work = async (messages: readonly Message[]) => {
    state.atWork++;
    try {
      const isWell = await processBatch(source, url, messages, settings);
      state.allowed = isWell
        ? Math.min(source.maximumConcurrency, state.allowed + 1)
        : Math.max(1, Math.floor(state.allowed / 2));
    } catch (error) {
      log({ level: "error", event: "batch lost", function: source.target.name, message: (error as Error).message });
    } finally {
      state.atWork--;
      announce();
    }
  };
  const poll = async () => {
    while (!stopping.signal.aborted) {
      if (state.atWork >= state.allowed) {
        await changed();
        continue;
      }
      try {
        const messages = await gather(source, url, settings, stopping.signal, (held, windowEnds) => {
          Object.assign(state, { gathering: held, windowEnds });
        });
        for (const batch of splitBySize(messages)) void clock.during(work(batch));
        state.gathering = 0;
        if (messages.length === 0) announce();
      } catch (error) {
        if (stopping.signal.aborted) return;
        log({ level: "error", event: "poll failed", function: source.target.name, message: (error as Error).message });
        await pause(clock, PAUSE_AFTER_FAULT_MILLISECONDS, stopping.signal);
        announce();
      }
    }
  };

  const polling = Promise.all(Array.from({ length: pollers }, poll));
  return {
    isBusy: () =>
      state.atWork > 0 || (state.gathering > 0 && clock.now() >= state.windowEnds) || dueMessages(sqs, url) > 0,
    changed,
    async stop() {
      stopping.abort();
      announce();
      await polling;
      while (state.atWork > 0) await changed();
    },
  };
}

/** Waits for messages, then for more of them until the batch is full or its window over. */
async function gather(
  { batchSize, windowSeconds }: EventSource,
  url: string,
  { sqs, clock, pollers = 1 }: PollerSettings,
  signal: AbortSignal,
  holds: (messages: number, windowEnds: number) => void,
): Promise<Message[]> {
  const gathered: Message[] = [];
  let until = clock.now() + LONG_POLL_SECONDS * 1000;
  do {
    const { Messages = [] } = await sqs.actions.ReceiveMessage(
      {
        QueueUrl: url,
        MaxNumberOfMessages: Math.min(Math.ceil(PER_RECEIVE / pollers), batchSize - gathered.length),
        WaitTimeSeconds: Math.min(LONG_POLL_SECONDS, Math.max(0, Math.ceil((until - clock.now()) / 1000))),
        MessageSystemAttributeNames: ["All"],
        MessageAttributeNames: ["All"],
      },
      signal,
    );
    if (gathered.length === 0 && Messages.length > 0) until = clock.now() + windowSeconds * 1000;
    gathered.push(...Messages);
    holds(gathered.length, until);
  } while (!signal.aborted && gathered.length > 0 && gathered.length < batchSize && clock.now() < until);
  return gathered;
}

/**
 * Invokes the function and deletes what it did. False when the whole batch failed, or was refused because the function
 * is too often in its own chain: such messages come back until the queue gives them to its dead letters, as on AWS.
 */
async function processBatch(
  source: EventSource,
  url: string,
  messages: readonly Message[],
  { sqs, invoker, log }: PollerSettings,
): Promise<boolean> {
  const chain = chainOf(messages.map(({ Attributes }) => Attributes?.["AWSTraceHeader"]));
  if (isStopped(chain, source.target)) {
    log(recursionStopped(source, messages));
    return false;
  }
  const outcome = await invoker.invoke(source.target, travelled(batchEvent(messages, source.queueArn)), chain);
  if (outcome.kind === "failed") return false;
  const payload = outcome.kind === "answered" && source.reportsFailures ? outcome.payload : "null";
  const { failed, reason } = failedMessages(payload, messages);
  if (failed.size > 0) {
    log({
      level: reason === undefined ? "warn" : "error",
      event: "messages failed",
      function: source.target.name,
      message: reason ?? `${failed.size} of ${messages.length} come back when their visibility ends`,
      message_ids: [...failed],
    });
  }
  const done = messages.filter(({ MessageId }) => !failed.has(MessageId));
  for (let at = 0; at < done.length; at += PER_RECEIVE) {
    const Entries = done
      .slice(at, at + PER_RECEIVE)
      .map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
    sqs.actions.DeleteMessageBatch({ QueueUrl: url, Entries });
  }
  return failed.size < messages.length;
}

function recursionStopped({ target }: EventSource, messages: readonly Message[]): LogLine {
  return {
    level: "error",
    event: "recursion stopped",
    function: target.name,
    message:
      `${target.name} was called ${MOST_CALLS} times on the way of these messages, and Lambda would not call it again: ` +
      "end the loop, or let its row in lib/model/resources.ts say why it resends",
    message_ids: messages.map(({ MessageId }) => MessageId),
  };
}

function urlOf({ queueArn, target }: EventSource, sqs: Sqs): string {
  const url = sqs.urlOfArn(queueArn);
  if (url === undefined) throw new Error(`${target.name} reads ${queueArn}, which is not a queue of this cloud`);
  return url;
}

function dueMessages(sqs: Sqs, QueueUrl: string): number {
  const { Attributes } = sqs.actions.GetQueueAttributes({ QueueUrl, AttributeNames: ["ApproximateNumberOfMessages"] });
  return Number(Attributes?.["ApproximateNumberOfMessages"] ?? 0);
}

function pause(clock: Clock, milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.at(clock.now() + milliseconds, resolve);
    signal.addEventListener("abort", () => {
      cancel();
      resolve();
    });
  });
}
