import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { freePort } from "../../../lib/local/free-port.ts";
import { fencesIn, textOf } from "../blocks.ts";
import { listed, type Preparations, SOON } from "./shared.ts";

export const webhooks = {
  /** The receiver runs in a first terminal until the page's end, with the secret that the first command has printed. */
  receiver: async (reader) => {
    const port = String(await freePort());
    const said = await reader.types({ lines: 1, placeholders: { 3000: port } });
    const [secret = ""] = /whsec_\S+/.exec(said) ?? [];
    await reader.starts(/listening on/, { placeholders: { "whsec_…": secret, 3000: port } });

    expect(await fetch(`http://127.0.0.1:${port}/hooks`, { method: "POST", body: "{}" })).toMatchObject({
      status: 401,
    });
  },

  /** The webhook and the receiver of the block before. */
  webhook: async (reader) => {
    const [made] = await listed<{ id: string }>(reader, "/webhooks");
    await reader.types({ placeholders: { "whk_…": made?.id ?? "" } });

    const inbox = join(reader.folder, "inbox");
    const tests = () =>
      readdirSync(inbox).filter((file) => readFileSync(join(inbox, file), "utf8").includes('"test":true'));
    await expect.poll(tests, SOON).toEqual([expect.stringMatching(/^evt_\w+\.json$/)]);
  },

  /** The reader's own receiver, which does not look at the age, knows the sample's secret, and the body is in its file. */
  sample: async (reader) => {
    const page = textOf("lib/docs/receive-webhooks.md");
    const body = fencesIn(page).find(({ content }) => /^\{"id":"evt_7f2c1d".*\}$/.test(content))?.content ?? "";
    writeFileSync(join(reader.folder, "sample.json"), body);
    const ours = readFileSync(join(reader.folder, "lib/docs/receivers/receiver.ts"), "utf8");
    const ageless = ours.replace("TOLERANCE_SECONDS = 300", "TOLERANCE_SECONDS = Number.POSITIVE_INFINITY");
    writeFileSync(join(reader.folder, "own-receiver.ts"), ageless);
    const [secret = ""] = /whsec_\w+=/.exec(page) ?? [];
    const port = String(await freePort());
    const environment = `WEBHOOK_SECRETS=${secret} PORT=${port} INBOX=own-inbox`;
    await reader.runs(/listening on/, `${environment} npx node own-receiver.ts`);
    const answers = [
      await reader.types({ placeholders: { 3000: port } }),
      await reader.typesAgain({ 3000: port }),
      await reader.typesAgain({
        3000: port,
        "Eo7aLIroRArthpl0PiFMb6K+aXFjVHuvnxM0comzC3w=": "Fo7aLIroRArthpl0PiFMb6K+aXFjVHuvnxM0comzC3w=",
      }),
    ];

    expect(answers.map((said) => /HTTP\/1\.1 (\d+)/.exec(said)?.[1])).toEqual(["200", "200", "401"]);
    expect(readFileSync(join(reader.folder, "own-inbox/evt_7f2c1d.json"), "utf8")).toBe(body);
    expect(readdirSync(join(reader.folder, "own-inbox"))).toHaveLength(1);
  },

  /** A receiver at which nothing listens: its deliveries fail, and are tried again. */
  "alert-webhook": async (reader) => {
    const target = `http://127.0.0.1:${await freePort()}/bridge`;
    await reader.types({ lines: 1, placeholders: { "https://alerts.example.com/bridge": target } });
    const [made] = await listed<{ id: string }>(reader, "/webhooks");

    expect(await reader.types({ placeholders: { "whk_…": made?.id ?? "" } })).toContain(target);
  },
} satisfies Preparations;
