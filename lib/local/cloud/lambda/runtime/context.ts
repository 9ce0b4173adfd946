/** What a handler gets as its second argument. */
export interface LambdaContext {
  callbackWaitsForEmptyEventLoop: boolean;
  readonly functionName: string;
  readonly functionVersion: string;
  readonly invokedFunctionArn: string;
  readonly memoryLimitInMB: string;
  readonly awsRequestId: string;
  readonly logGroupName: string;
  readonly logStreamName: string;
  getRemainingTimeInMillis(): number;
}

/** What is known of a function wherever it runs. */
interface Identity {
  readonly name: string;
  readonly arn: string;
  readonly memoryMegabytes: number;
  readonly logGroup: string;
}

/** The context of one invocation; `now` gives epoch milliseconds, like the deadline. */
export function contextOf(
  { name, arn, memoryMegabytes, logGroup }: Identity,
  { requestId, deadline }: { readonly requestId: string; readonly deadline: number },
  now: () => number,
): LambdaContext {
  return {
    callbackWaitsForEmptyEventLoop: true,
    functionName: name,
    functionVersion: "$LATEST",
    invokedFunctionArn: arn,
    memoryLimitInMB: String(memoryMegabytes),
    awsRequestId: requestId,
    logGroupName: logGroup,
    logStreamName: name,
    getRemainingTimeInMillis: () => Math.max(0, deadline - now()),
  };
}
