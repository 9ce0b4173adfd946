import { SQSClient } from "@aws-sdk/client-sqs";
import type { QueueName } from "../../model/resources.ts";
import { ASKING } from "../../network/sdk-timeouts.ts";

/** SQS and the URLs of the queues in it. */
export interface Queues {
  readonly client: SQSClient;
  readonly url: (name: QueueName) => string;
}

/** The queues that the environment names; region, endpoint and credentials are the SDK's to find. */
export function openQueues(url: (name: QueueName) => string): Queues {
  return { client: new SQSClient(ASKING), url };
}
