import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

/** A stand-in that speaks the two calls of KMS's protocol that the service makes. */
export async function startKms() {
  const key = randomBytes(32);
  const server = createServer(async (request, response) => {
    const { status, body } = await answer(key, request);
    response.writeHead(status, { "Content-Type": "application/x-amz-json-1.1" }).end(JSON.stringify(body));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

interface KmsInput {
  readonly EncryptionContext?: Record<string, string>;
  readonly CiphertextBlob?: string;
}

async function answer(key: Buffer, request: IncomingMessage): Promise<{ status: number; body: object }> {
  const input = (await json(request)) as KmsInput;
  const context = Buffer.from(JSON.stringify(input.EncryptionContext ?? {}));
  if (request.headers["x-amz-target"] === "TrentService.GenerateDataKey") {
    const plain = randomBytes(32);
    const nonce = randomBytes(12);
    const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(context);
    const sealed = Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
    return {
      status: 200,
      body: { KeyId: "key", Plaintext: plain.toString("base64"), CiphertextBlob: sealed.toString("base64") },
    };
  }
  const sealed = Buffer.from(input.CiphertextBlob ?? "", "base64");
  try {
    const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, 12)).setAAD(context);
    decipher.setAuthTag(sealed.subarray(-16));
    const plain = Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()]);
    return { status: 200, body: { KeyId: "key", Plaintext: plain.toString("base64") } };
  } catch {
    return { status: 400, body: { __type: "InvalidCiphertextException" } };
  }
}
