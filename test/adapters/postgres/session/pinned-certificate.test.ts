import { createServer } from "node:net";
import { TLSSocket } from "node:tls";
import { expect, onTestFinished, test } from "vitest";
import { connectionOptions, pinnedIn } from "../../../../lib/adapters/postgres/session/connection-options.ts";
import { openSession } from "../../../../lib/adapters/postgres/session/session.ts";
import { selfSigned } from "../../../../lib/local/org/http/self-signed.ts";
import { startLyingPostgres } from "../../../support/doubles/lying-postgres.ts";
import { listenForTest } from "../../listen.ts";

const OTHER = "AB".repeat(32);

const open = (port: number, query: string) =>
  openSession({ url: `postgres://u:secret-password@127.0.0.1:${port}/d?${query}`, schema: "salesforce" });
const refusal = (port: number, query: string) => open(port, query).then(String, String);

test("a self-signed certificate is trusted by its fingerprint alone, and another one is named", async () => {
  const server = await startLyingPostgres({ tls: "on request" });
  onTestFinished(server.close);

  const unverified = await refusal(server.port, "sslmode=verify-full");
  const other = await refusal(server.port, `sslfingerprint=${OTHER}&sslmode=no-verify`);
  const shown = /[0-9A-F]{2}(:[0-9A-F]{2}){31}/.exec(other)?.[0] ?? "";
  const session = await open(server.port, `sslfingerprint=${shown}`);
  const inOtherForm = await open(server.port, `sslfingerprint=${shown.replaceAll(":", "").toLowerCase()}`);

  expect(unverified).toContain("self-signed");
  expect(other).toContain("the server's certificate is not the pinned one");
  expect([session.isAlive, inOtherForm.isAlive]).toEqual([true, true]);
  await Promise.all([session.close(), inOtherForm.close()]);
});

test("a server with another certificate sees no password", async () => {
  const secure = selfSigned(new Date());
  const seen: Buffer[] = [];
  const server = createServer((socket) => {
    socket
      .on("error", () => undefined)
      .once("data", () => {
        socket.write("S");
        const stream = new TLSSocket(socket, { isServer: true, ...secure });
        // At the first bytes it asks for the password in plain text.
        stream
          .on("error", () => undefined)
          .on("data", (bytes) => {
            seen.push(bytes);
            stream.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]));
          });
      });
  });

  const other = await refusal(await listenForTest(server), `sslfingerprint=${OTHER}`);

  expect(other).toContain("not the pinned one");
  expect(Buffer.concat(seen).toString("latin1")).not.toContain("secret-password");
});

test("a fingerprint that is none is refused, and any other has TLS used wherever the server is", () => {
  expect(() => pinnedIn("postgres://u:p@h/d?sslfingerprint=AB:CD")).toThrow(/64 hexadecimal digits/);
  expect(connectionOptions(`postgres://u:p@127.0.0.1/d?sslfingerprint=${OTHER}`).ssl).toEqual({
    rejectUnauthorized: false,
  });
});
