/**
 * Every metric of AWS's own that an alarm may watch, by namespace and name, with the dimensions that name one thing. Most
 * are sent only while their value is not zero, so a count that is missing is zero.
 *
 * Sources: AWS Lambda Developer Guide, Types of metrics for Lambda functions, and Monitoring Lambda function URLs; Amazon
 * SQS Developer Guide, Available CloudWatch metrics; Amazon DynamoDB Developer Guide, DynamoDB metrics and dimensions;
 * Amazon API Gateway Developer Guide, Amazon API Gateway dimensions and metrics.
 */
export const AWS_METRICS: Readonly<Record<string, readonly string[]>> = {
  "AWS/Lambda Invocations": ["FunctionName"],
  // What ends in an exception, out of time or out of memory; a batch of which messages are returned is no error.
  "AWS/Lambda Errors": ["FunctionName"],
  // Without a dimension, of all functions of the account in the region.
  "AWS/Lambda Throttles": [],
  // Answers of 5xx by the function's URL, those of a function that died as well.
  "AWS/Lambda Url5xxCount": ["FunctionName"],
  "AWS/SQS NumberOfMessagesSent": ["QueueName"],
  // Of the messages that were received at most three times, those that a reader holds as well.
  "AWS/SQS ApproximateAgeOfOldestMessage": ["QueueName"],
  "AWS/SQS ApproximateNumberOfMessagesVisible": ["QueueName"],
  "AWS/DynamoDB ReadThrottleEvents": ["TableName"],
  "AWS/DynamoDB WriteThrottleEvents": ["TableName"],
  "AWS/DynamoDB SystemErrors": ["Operation", "TableName"],
  "AWS/ApiGateway 5XXError": ["ApiName", "Stage"],
};
