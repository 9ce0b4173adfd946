import type * as z from "zod/mini";
import { AwsError } from "./aws-error.ts";

/** A service that speaks one of the AWS JSON protocols: an action's name in a header, its input and output in JSON. */
export interface JsonService {
  /** What comes before the dot in `X-Amz-Target`. */
  readonly targetPrefix: string;
  /** The service's name in a signature. */
  readonly signingName: string;
  /** What each action accepts. */
  readonly inputs: Readonly<Record<string, z.ZodMiniType>>;
  /** What each action does. The signal aborts when the caller has gone; the header has the caller's trace. */
  readonly actions: Readonly<Record<string, (input: never, signal: AbortSignal, traceHeader?: string) => unknown>>;
  /** The service's own words for an input that does not fit. */
  refuse(issue: z.core.$ZodIssue): Error;
}

/** Checks the input of one action and runs it. */
export async function callAction(
  service: JsonService,
  name: string,
  input: unknown,
  signal: AbortSignal,
  traceHeader?: string,
): Promise<unknown> {
  const schema = Object.hasOwn(service.inputs, name) ? service.inputs[name] : undefined;
  const run = service.actions[name];
  if (!schema || !run)
    throw new AwsError(
      "UnknownOperationException",
      `${service.targetPrefix}.${name} is not part of the embedded cloud.`,
    );
  const parsed = schema.safeParse(input, { reportInput: true });
  const issue = parsed.error?.issues[0];
  if (issue) throw service.refuse(issue);
  return run(parsed.data as never, signal, traceHeader);
}
