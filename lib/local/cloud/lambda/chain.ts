import { createHash, randomUUID } from "node:crypto";
import type { LambdaFunction } from "./template/functions.ts";

/** How often each function was called on the way to here, by its short name. */
export type Chain = ReadonlyMap<string, number>;

/** Lambda calls a function this often on the way of one event, then no more (AWS, Lambda recursive loop detection). */
export const MOST_CALLS = 16;

/** The chain of an event that nothing led to. */
export const BEGINNING: Chain = new Map();

/** The chain in trace headers: of several the longest, because one call's messages cannot be distinguished. */
export function chainOf(headers: readonly (string | undefined)[]): Chain {
  const chain = new Map<string, number>();
  for (const header of headers) {
    const lineage = /(?:^|;)Lineage=([^;]*)/.exec(header ?? "")?.[1] ?? "";
    for (const [, name = "", calls] of lineage.matchAll(/([0-9a-f]{8}):(\d+)/g)) {
      chain.set(name, Math.max(chain.get(name) ?? 0, Number(calls)));
    }
  }
  return chain;
}

/** Whether Lambda would refuse the next call: the function has had its share and does not say that it means it. */
export function isStopped(chain: Chain, target: LambdaFunction): boolean {
  return !target.mayRecur && callsOf(chain, target) >= MOST_CALLS;
}

/** The trace header of a call: what the function sends by the SDK carries it on. Its parent begins with the function. */
export function traceHeader(chain: Chain, target: LambdaFunction): string {
  const after = new Map(chain).set(shortName(target), callsOf(chain, target) + 1);
  const lineage = [...after].map(([name, calls]) => `${name}:${calls}`).join("|");
  return `${traceRoot()};Parent=${shortName(target)}${randomHex().slice(0, 8)};Sampled=0;Lineage=${lineage}`;
}

/** The function of these whose call sent a request with this trace header; undefined where none did. */
export function callerIn(header: string, functions: readonly LambdaFunction[]): LambdaFunction | undefined {
  const [, parent] = /(?:^|;)Parent=([0-9a-f]{8})/.exec(header) ?? [];
  return functions.find((one) => shortName(one) === parent);
}

/** The beginning of a trace header that nothing came before. */
export function traceRoot(): string {
  const hex = randomHex();
  return `Root=1-${hex.slice(0, 8)}-${hex.slice(8)}`;
}

/** 32 digits; Node makes UUIDs in advance, a hundred at a time. */
const randomHex = (): string => randomUUID().replaceAll("-", "");

const callsOf = (chain: Chain, target: LambdaFunction): number => chain.get(shortName(target)) ?? 0;

const shortNames = new Map<string, string>();

function shortName({ arn }: LambdaFunction): string {
  const known = shortNames.get(arn) ?? createHash("sha256").update(arn).digest("hex").slice(0, 8);
  shortNames.set(arn, known);
  return known;
}
