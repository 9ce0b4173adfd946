import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CreateTableCommandInput } from "@aws-sdk/client-dynamodb";
import { freePort } from "../../free-port.ts";
import { type GuardedChild, startGuarded } from "../../guarded-child.ts";
import { platformPackage } from "../../platform-package.ts";

/** A running DynamoDB. */
export interface DynamoDbServer {
  readonly endpoint: string;
  /** Resolves when it has ended, by `close` or by itself. */
  readonly exited: Promise<number | null>;
  close(): Promise<void>;
}

const READY = /Dynoxide listening on/;
const ATTEMPTS = 3;

/** Where a server keeps its process's id, its last words, and its data. */
export interface DynamoDbPlace {
  readonly folder: string;
  readonly name: "dynamodb" | "rate-limits";
  /** Keeps data in memory, and has these tables, empty, from its first moment on. */
  readonly inMemory?: readonly CreateTableCommandInput[];
}

/** Starts dynoxide on 127.0.0.1. Another program may take a free port first, so it tries again. */
export async function startDynamoDb(
  { folder, name, inMemory }: DynamoDbPlace,
  wantedPort = 0,
): Promise<DynamoDbServer> {
  const command = join(platformPackage("@dynoxide"), process.platform === "win32" ? "dynoxide.exe" : "dynoxide");
  for (let attempt = 1; ; attempt++) {
    const port = wantedPort || (await freePort());
    const child = await startGuarded({
      name: "the embedded DynamoDB",
      command,
      args: [
        ...["serve", "--host", "127.0.0.1", "--port", String(port)],
        ...(inMemory
          ? ["--schema", writeSchema(folder, name, inMemory)]
          : ["--db-path", join(folder, `${name}.sqlite`)]),
      ],
      endSignals: ["SIGTERM", "SIGKILL"],
      pidFile: join(folder, `${name}.pid`),
      logFile: join(folder, `${name}.log`),
    });
    const failure = await failureOf(child);
    if (!failure) return { endpoint: `http://127.0.0.1:${port}`, exited: child.exited, close: () => child.stop() };
    if (wantedPort !== 0 || attempt === ATTEMPTS) throw failure;
  }
}

function writeSchema(folder: string, name: string, tables: readonly CreateTableCommandInput[]): string {
  const file = join(folder, `${name}.schema.json`);
  writeFileSync(file, JSON.stringify(tables.map((Table) => ({ Table }))));
  return file;
}

function failureOf(child: GuardedChild): Promise<unknown> {
  return child.printed(READY).then(
    () => null,
    (error: unknown) => error,
  );
}
