// A receiver of Bridge's webhooks: node receiver.ts (Node 24). Settings: WEBHOOK_SECRETS, PORT, INBOX.
import { createHmac, randomUUID, timingSafeEqual } from "node:crypto";
import { linkSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";

/** One secret, or several with spaces between them while it is rotated; each as it was shown, `whsec_` included. */
const secrets = (process.env["WEBHOOK_SECRETS"] ?? "").split(" ").filter(Boolean);
const inbox = process.env["INBOX"] ?? "inbox";
const TOLERANCE_SECONDS = 300;

function isSigned(headers: IncomingHttpHeaders, body: Buffer): boolean {
  const [id, timestamp] = [String(headers["webhook-id"]), String(headers["webhook-timestamp"])];
  const age = Math.abs(Date.now() / 1000 - Number(timestamp));
  if (!/^[\w-]+$/.test(id) || !/^\d+$/.test(timestamp) || age > TOLERANCE_SECONDS) return false;
  const given = String(headers["webhook-signature"]).split(" ");
  return secrets.some((secret) => {
    const key = Buffer.from(secret.replace("whsec_", ""), "base64");
    const digest = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64");
    return given.some((signature) => isEqual(signature, `v1,${digest}`));
  });
}

function isEqual(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Keeps the event under its id; false when it is there already, whole: a link is created at once or not at all. */
function keep(id: string, body: Buffer): boolean {
  const draft = join(inbox, `.${randomUUID()}`);
  writeFileSync(draft, body, { flush: true });
  try {
    linkSync(draft, join(inbox, `${id}.json`));
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(draft);
  }
}

if (secrets.length === 0) throw new Error("WEBHOOK_SECRETS is not set");
mkdirSync(inbox, { recursive: true });
const server = createServer(async (request, response) => {
  try {
    const body = await buffer(request);
    if (!isSigned(request.headers, body)) return response.writeHead(401).end("bad signature\n");
    // What has to be done for the event is done afterwards, from the inbox: the answer is due within 5 seconds.
    const isNew = keep(String(request.headers["webhook-id"]), body);
    return response.writeHead(200).end(isNew ? "kept\n" : "known\n");
  } catch (error) {
    console.error(error); // a 5xx makes Bridge try again
    return response.writeHead(500).end();
  }
});
server.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", () => {
  console.log(`listening on ${(server.address() as AddressInfo).port}`);
});
