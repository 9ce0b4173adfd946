import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

interface Secret {
  value: string;
  tags: Readonly<Record<string, string>>;
}

/** Secrets Manager, of which a test changes the secrets, by ARN; a secret without tags may not be read. */
export interface SecretsManager extends AsyncDisposable {
  readonly endpoint: string;
  readonly secrets: Map<string, Secret>;
  /** How often each action was asked for. */
  readonly asked: Record<string, number>;
}

export async function startSecretsManager(): Promise<SecretsManager> {
  const secrets = new Map<string, Secret>();
  const asked: Record<string, number> = {};
  const server = createServer(async (request, response) => {
    const action = String(request.headers["x-amz-target"]).replace("secretsmanager.", "");
    const { SecretId } = (await json(request)) as { SecretId: string };
    asked[action] = (asked[action] ?? 0) + 1;
    const secret = secrets.get(SecretId);
    const refusal = !secret
      ? "ResourceNotFoundException"
      : Object.keys(secret.tags).length === 0
        ? "AccessDeniedException"
        : null;
    response.writeHead(refusal ? 400 : 200, { "content-type": "application/x-amz-json-1.1" });
    const Tags = Object.entries(secret?.tags ?? {}).map(([Key, Value]) => ({ Key, Value }));
    const answers: Record<string, object> = {
      GetSecretValue: { ARN: SecretId, SecretString: secret?.value },
      DescribeSecret: { ARN: SecretId, Tags },
    };
    response.end(JSON.stringify(refusal ? { __type: refusal, Message: refusal } : answers[action]));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    secrets,
    asked,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
