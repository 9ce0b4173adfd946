import type { Assembly } from "../template/assembly.ts";
import { functionNamed, type LambdaFunction, resourcesOfType } from "../template/functions.ts";
import type { Resolve } from "../template/resolve.ts";
import type { EventSource } from "./event-source.ts";

interface MappingProperties {
  readonly EventSourceArn: string;
  readonly FunctionName: string;
  readonly BatchSize?: number;
  readonly MaximumBatchingWindowInSeconds?: number;
  readonly ScalingConfig?: { readonly MaximumConcurrency?: number };
  readonly FunctionResponseTypes?: readonly string[];
}

/** The event source mappings of all stacks; what would find no place to run stays in its queue. */
export function readEventSources(
  assembly: Assembly,
  resolve: Resolve,
  functions: readonly LambdaFunction[],
  mostAtOnce: number,
): EventSource[] {
  const mappings = resourcesOfType<MappingProperties>(assembly, resolve, "AWS::Lambda::EventSourceMapping");
  return mappings.map(({ properties }) => ({
    queueArn: properties.EventSourceArn,
    target: functionNamed(functions, properties.FunctionName),
    batchSize: properties.BatchSize ?? 10,
    windowSeconds: properties.MaximumBatchingWindowInSeconds ?? 0,
    maximumConcurrency: Math.min(properties.ScalingConfig?.MaximumConcurrency ?? 1000, mostAtOnce),
    reportsFailures: properties.FunctionResponseTypes?.includes("ReportBatchItemFailures") ?? false,
  }));
}
