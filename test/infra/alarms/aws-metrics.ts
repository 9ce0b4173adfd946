/** A metric of AWS's own: the dimensions that name one thing, and the unit. */
export interface AwsMetric {
  readonly dimensions: readonly string[];
  readonly unit: "Count" | "Seconds";
  /** The page of AWS's documentation that has it. */
  readonly page: string;
}

const LAMBDA = "AWS Lambda Developer Guide, Types of metrics for Lambda functions";
const LAMBDA_URL = "AWS Lambda Developer Guide, Monitoring Lambda function URLs";
const SQS = "Amazon SQS Developer Guide, Available CloudWatch metrics for Amazon SQS";
const DYNAMODB = "Amazon DynamoDB Developer Guide, DynamoDB metrics and dimensions";
const GATEWAY = "Amazon API Gateway Developer Guide, Amazon API Gateway dimensions and metrics";

/**
 * Every metric of AWS's own that an alarm may watch, by namespace and name. Most are sent only while their value is not
 * zero, so a count that is missing is zero.
 */
export const AWS_METRICS: Readonly<Record<string, AwsMetric>> = {
  "AWS/Lambda Invocations": { dimensions: ["FunctionName"], unit: "Count", page: LAMBDA },
  // What ends in an exception, out of time or out of memory; a batch of which messages are returned is no error.
  "AWS/Lambda Errors": { dimensions: ["FunctionName"], unit: "Count", page: LAMBDA },
  // Without a dimension, of all functions of the account in the region.
  "AWS/Lambda Throttles": { dimensions: [], unit: "Count", page: LAMBDA },
  // Answers of 5xx by the function's URL, those of a function that died as well.
  "AWS/Lambda Url5xxCount": { dimensions: ["FunctionName"], unit: "Count", page: LAMBDA_URL },
  "AWS/SQS NumberOfMessagesSent": { dimensions: ["QueueName"], unit: "Count", page: SQS },
  // Of the messages that were received at most three times, those that a reader holds as well.
  "AWS/SQS ApproximateAgeOfOldestMessage": { dimensions: ["QueueName"], unit: "Seconds", page: SQS },
  "AWS/SQS ApproximateNumberOfMessagesVisible": { dimensions: ["QueueName"], unit: "Count", page: SQS },
  "AWS/DynamoDB ReadThrottleEvents": { dimensions: ["TableName"], unit: "Count", page: DYNAMODB },
  "AWS/DynamoDB WriteThrottleEvents": { dimensions: ["TableName"], unit: "Count", page: DYNAMODB },
  "AWS/DynamoDB SystemErrors": { dimensions: ["Operation", "TableName"], unit: "Count", page: DYNAMODB },
  "AWS/ApiGateway 5XXError": { dimensions: ["ApiName", "Stage"], unit: "Count", page: GATEWAY },
};
