import { spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { begin, newDelivery } from "../../lib/model/delivery/delivery.ts";
import { newSecret, signedRequest } from "../../lib/webhooks/sign.ts";

const FOLDER = join(import.meta.dirname, "../../lib/docs/receivers");

/** Each receiver as its first line says that it is started. */
const RECEIVERS = {
  typescript: [process.execPath, "receiver.ts"],
  python: ["python3", "receiver.py"],
  java: ["java", "Receiver.java"],
  go: ["go", "run", "receiver.go"],
} as const;

/** What this machine has not got, as `npm run test:long -- --without java` says. */
const without = (process.env["WITHOUT"] ?? "").split(",");

const there = Object.entries(RECEIVERS).filter(([language]) => !without.includes(language));

test.each(there)(
  "the receiver in %s keeps a signed event once, however often it comes, and nothing else",
  async (_, [program, ...args]) => {
    const secret = newSecret();
    const inbox = mkdtempSync(join(tmpdir(), "bridge-inbox-"));
    const env = { ...process.env, WEBHOOK_SECRETS: `${newSecret()} ${secret}`, INBOX: inbox, PORT: "0" };
    // A group of its own: `go run` starts what it compiled as a child.
    const receiver = spawn(program, args, { cwd: FOLDER, env, stdio: ["ignore", "pipe", "inherit"], detached: true });
    onTestFinished(() => {
      if (receiver.pid !== undefined) process.kill(-receiver.pid, "SIGKILL");
      rmSync(inbox, { recursive: true, force: true });
    });
    const [said] = await once(createInterface({ input: receiver.stdout }), "line");
    const url = `http://127.0.0.1:${/listening on (\d+)/.exec(String(said))?.[1]}/hooks`;
    const post = async (body: string, { "content-length": _length, ...headers }: Readonly<Record<string, string>>) => {
      const response = await fetch(url, { method: "POST", body, headers });
      return `${response.status} ${(await response.text()).trim()}`;
    };
    const body = JSON.stringify({ id: "evt_1", event: "record.failed", data: { error: 'Ärger, "quoted", 🚫' } });
    const { headers } = deliveryOf(body, secret, new Date());
    const old = deliveryOf(body, secret, new Date(Date.now() - 301_000)).headers;
    const escaping: Record<string, string> = { ...headers, "webhook-id": "../evt_2" };
    const signed = createHmac("sha256", Buffer.from(secret.slice(6), "base64"));
    escaping["webhook-signature"] =
      `v1,${signed.update(`../evt_2.${headers["webhook-timestamp"]}.${body}`).digest("base64")}`;

    expect(await post(`${body} `, headers)).toBe("401 bad signature");
    expect(await post(body, { ...headers, "webhook-signature": "v1,AAAA" })).toBe("401 bad signature");
    expect(await post(body, deliveryOf(body, newSecret(), new Date()).headers)).toBe("401 bad signature");
    expect(await post(body, old)).toBe("401 bad signature");
    expect(await post(body, escaping)).toBe("401 bad signature");
    const answers = await Promise.all(Array.from({ length: 8 }, () => post(body, headers)));

    expect(answers.toSorted()).toEqual(["200 kept", ...Array<string>(7).fill("200 known")]);
    expect(readdirSync(inbox)).toEqual(["evt_1.json"]);
    expect(readFileSync(join(inbox, "evt_1.json"), "utf8")).toBe(body);
  },
);

/** A delivery as Bridge signs it, at this time. */
function deliveryOf(body: string, secret: string, at: Date) {
  const made = { id: "dlv_1", workspaceId: "ws_1", webhookId: "whk_1", eventId: "evt_1", createdAt: at };
  const delivery = begin(newDelivery({ ...made, event: "record.failed", body }), "automatic", at);
  if (delivery.latest === null) throw new Error("no attempt is under way");
  return signedRequest("https://example.com/", delivery, delivery.latest, {
    current: secret,
    previous: [],
  });
}
