import { type DynamoDbServer, startDynamoDb } from "./start-dynamodb.ts";

/** A DynamoDB that is started again when it ends by itself. */
export interface KeptDynamoDb {
  readonly endpoint: string;
  close(): Promise<void>;
}

/** Starts DynamoDB and keeps it running at the same address; each unexpected end is told, and one that lasts as well. */
export async function keepDynamoDb(
  folder: string,
  wantedPort: number | undefined,
  onFault: (fault: unknown) => void,
): Promise<KeptDynamoDb> {
  let server = await startDynamoDb(folder, wantedPort);
  let isClosing = false;
  let restarting: Promise<void> = Promise.resolve();
  const { endpoint } = server;

  const restart = async (code: number | null) => {
    onFault(
      new Error(`the embedded DynamoDB ended with ${code ?? "a signal"} and is started again; ${folder}/dynamodb.log`),
    );
    try {
      server = await startDynamoDb(folder, Number(new URL(endpoint).port));
      watch(server);
    } catch (cause) {
      onFault(new Error("the embedded DynamoDB cannot be started again: restart the service", { cause }));
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
    async close() {
      isClosing = true;
      await restarting;
      await server.close();
    },
  };
}
