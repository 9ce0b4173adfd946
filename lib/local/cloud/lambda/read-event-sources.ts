import type { Assembly } from "./assembly.ts";
import type { EventSource } from "./event-source.ts";
import { functionNamed, type LambdaFunction, resourcesOfType } from "./functions.ts";
import type { Resolve } from "./resolve.ts";

interface MappingProperties {
  readonly EventSourceArn: string;
  readonly FunctionName: string;
  readonly BatchSize?: number;
  readonly MaximumBatchingWindowInSeconds?: number;
  readonly ScalingConfig?: { readonly MaximumConcurrency?: number };
  readonly FunctionResponseTypes?: readonly string[];
}

/** The event source mappings of all stacks. */
export function readEventSources(
  assembly: Assembly,
  resolve: Resolve,
  functions: readonly LambdaFunction[],
): EventSource[] {
  const mappings = resourcesOfType<MappingProperties>(assembly, resolve, "AWS::Lambda::EventSourceMapping");
  return mappings.map(({ properties }) => ({
    queueArn: properties.EventSourceArn,
    target: functionNamed(functions, properties.FunctionName),
    batchSize: properties.BatchSize ?? 10,
    windowSeconds: properties.MaximumBatchingWindowInSeconds ?? 0,
    maximumConcurrency: properties.ScalingConfig?.MaximumConcurrency ?? 1000,
    reportsFailures: properties.FunctionResponseTypes?.includes("ReportBatchItemFailures") ?? false,
  }));
}
