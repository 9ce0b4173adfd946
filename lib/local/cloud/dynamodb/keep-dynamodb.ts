import { type DynamoDbServer, startDynamoDb } from "./start-dynamodb.ts";

/** A DynamoDB that is restarted when it ends unexpectedly. */
export interface KeptDynamoDb {
  readonly endpoint: string;
  /** Resolves when it has ended and cannot be started again; never because of `close`. */
  readonly lost: Promise<void>;
  close(): Promise<void>;
}

/** Starts DynamoDB and keeps it running at the same address; each unexpected end is reported. */
export async function keepDynamoDb(
  folder: string,
  wantedPort: number | undefined,
  onFault: (fault: unknown) => void,
): Promise<KeptDynamoDb> {
  let server = await startDynamoDb(folder, wantedPort);
  let isClosing = false;
  let restarting: Promise<void> = Promise.resolve();
  const { endpoint } = server;
  const { promise: lost, resolve: giveUp } = Promise.withResolvers<void>();

  const restart = async (code: number | null) => {
    onFault(
      new Error(`the embedded DynamoDB ended with ${code ?? "a signal"} and is started again; ${folder}/dynamodb.log`),
    );
    try {
      server = await startDynamoDb(folder, Number(new URL(endpoint).port));
      watch(server);
    } catch (cause) {
      onFault(new Error("the embedded DynamoDB cannot be started again", { cause }));
      if (!isClosing) giveUp();
    }
  };
  const watch = ({ exited }: DynamoDbServer) => {
    void exited.then((code) => {
      if (!isClosing) restarting = restart(code);
    });
  };
  watch(server);
  return {
    endpoint,
    lost,
    async close() {
      isClosing = true;
      await restarting;
      await server.close();
    },
  };
}
