import { join } from "node:path";
import { type DynamoDbPlace, type DynamoDbServer, startDynamoDb } from "./start-dynamodb.ts";

/** A DynamoDB that is started again when it ends by itself. */
export interface KeptDynamoDb {
  readonly endpoint: string;
  /** Resolves when it has ended and cannot be started again; never because of `close`. */
  readonly lost: Promise<void>;
  close(): Promise<void>;
}

/** How to keep a DynamoDB running. */
interface Keeping {
  readonly place: DynamoDbPlace;
  readonly wantedPort?: number | undefined;
  /** Is told of each unexpected end. */
  readonly onFault: (fault: unknown) => void;
  /** What is to be done whenever it runs anew. */
  readonly prepare?: (endpoint: string) => Promise<void>;
}

/** Starts DynamoDB and keeps it running at the same address. */
export async function keepDynamoDb({ place, wantedPort, onFault, prepare }: Keeping): Promise<KeptDynamoDb> {
  const logFile = join(place.folder, `${place.name}.log`);
  const start = async (port: number | undefined) => {
    const started = await startDynamoDb(place, port);
    try {
      await prepare?.(started.endpoint);
    } catch (error) {
      await started.close();
      throw error;
    }
    return started;
  };
  let server = await start(wantedPort);
  let isClosing = false;
  let restarting: Promise<void> = Promise.resolve();
  const { endpoint } = server;
  const { promise: lost, resolve: giveUp } = Promise.withResolvers<void>();

  const restart = async (code: number | null) => {
    onFault(new Error(`the embedded DynamoDB ended with ${code ?? "a signal"} and is started again; ${logFile}`));
    try {
      server = await start(Number(new URL(endpoint).port));
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
