import type { Cloud } from "../../../../lib/local/cloud/start-cloud.ts";

/** What functions, schedules and event source mappings asked of the services beside DynamoDB. */
export interface ServiceCounts {
  /** Sent, received and deleted, in batches; receives that got nothing are not in it. */
  readonly sqsRequests: number;
  readonly firings: number;
  readonly kmsRequests: number;
}

type Action = (...given: unknown[]) => unknown;

/** Counts the actions of the embedded services. */
export function countServices({ sqs, kms }: Cloud): { take(): ServiceCounts } {
  const none = { sqsRequests: 0, firings: 0, kmsRequests: 0 };
  const counted = { ...none };
  const before = (actions: object, names: readonly string[], count: (name: string, answer: unknown) => void) => {
    const own = actions as Record<string, Action>;
    for (const name of names) {
      const action = own[name];
      if (!action) throw new Error(`there is no action ${name} to count`);
      own[name] = (...given) => {
        const answer = action(...given);
        void Promise.resolve(answer).then(
          (said) => count(name, said),
          () => undefined,
        );
        return answer;
      };
    }
  };
  before(sqs.actions, ["SendMessage", "SendMessageBatch", "DeleteMessageBatch", "ReceiveMessage"], (name, answer) => {
    const { Messages } = answer as { readonly Messages?: readonly unknown[] };
    if (name !== "ReceiveMessage" || (Messages?.length ?? 0) > 0) counted.sqsRequests += 1;
    // Functions send in batches; single messages are those of schedules.
    if (name === "SendMessage") counted.firings += 1;
  });
  before(kms.service.actions, ["GenerateDataKey", "Decrypt"], () => {
    counted.kmsRequests += 1;
  });
  return {
    take() {
      const taken = { ...counted };
      Object.assign(counted, none);
      return taken;
    },
  };
}
