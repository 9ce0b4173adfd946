import { join } from "node:path";
import { freePort } from "../../free-port.ts";
import { type GuardedChild, startGuarded } from "../../guarded-child.ts";
import { platformPackage } from "../../platform-package.ts";

/** A running DynamoDB. */
export interface DynamoDbServer {
  readonly endpoint: string;
  /** Resolves when it has ended, by `close` or otherwise. */
  readonly exited: Promise<number | null>;
  close(): Promise<void>;
}

const READY = /Dynoxide listening on/;
const ATTEMPTS = 3;

/** Starts dynoxide on 127.0.0.1 over a file of the folder. Another program may take a free port first, so it tries again. */
export async function startDynamoDb(folder: string, wantedPort = 0): Promise<DynamoDbServer> {
  const command = join(platformPackage("@dynoxide"), process.platform === "win32" ? "dynoxide.exe" : "dynoxide");
  for (let attempt = 1; ; attempt++) {
    const port = wantedPort || (await freePort());
    const child = await startGuarded({
      name: "the embedded DynamoDB",
      command,
      args: ["serve", "--host", "127.0.0.1", "--port", String(port), "--db-path", join(folder, "dynamodb.sqlite")],
      endSignals: ["SIGTERM", "SIGKILL"],
      pidFile: join(folder, "dynamodb.pid"),
      logFile: join(folder, "dynamodb.log"),
    });
    const failure = await failureOf(child);
    if (!failure) return { endpoint: `http://127.0.0.1:${port}`, exited: child.exited, close: () => child.stop() };
    if (wantedPort !== 0 || attempt === ATTEMPTS) throw failure;
  }
}

function failureOf(child: GuardedChild): Promise<unknown> {
  return child.printed(READY).then(
    () => null,
    (error: unknown) => error,
  );
}
