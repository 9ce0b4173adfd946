import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import openapi from "../../lib/http/openapi/openapi.json" with { type: "json" };

const PAGE = readFileSync(join(import.meta.dirname, "../../lib/docs/receive-webhooks.md"), "utf8");

interface Sent {
  readonly description: string;
  readonly parameters: readonly { readonly name: string; readonly example: string }[];
  readonly requestBody: { readonly content: { readonly "application/json": { readonly example: unknown } } };
}
const sent = Object.entries(openapi.webhooks as Readonly<Record<string, { readonly post: Sent }>>);

test.each(sent)("the sample of %s in the API's description is signed as its text says", (event, { post }) => {
  const body = JSON.stringify(post.requestBody.content["application/json"].example);
  const headers = Object.fromEntries(post.parameters.map(({ name, example }) => [name, example]));
  const [secret = "", older = ""] = post.description.match(/whsec_[\w+/=]+/g) ?? [];
  const hmac = (key: string) => `sha256=${createHmac("sha256", key).update(body).digest("hex")}`;
  const signed = `evt_7f2c1d.1769847302.${body}`;
  const standard = (key: string) =>
    `v1,${createHmac("sha256", Buffer.from(key.slice(6), "base64"))
      .update(signed)
      .digest("base64")}`;

  expect(headers).toEqual({
    "X-Bridge-Signature": hmac(secret),
    "X-Bridge-Signature-Previous": hmac(older),
    "webhook-id": "evt_7f2c1d",
    "webhook-timestamp": "1769847302",
    "webhook-signature": `${standard(secret)} ${standard(older)}`,
    "X-Bridge-Event": event,
    "X-Bridge-Delivery": "dlv_2K9xPq",
    "X-Bridge-Attempt": "1",
  });
});

test("the page's sample is that of record.failed, and it names every event with its fields", () => {
  const { post } = (openapi.webhooks as Readonly<Record<string, { readonly post: Sent }>>)["record.failed"] ?? {};
  const headers = Object.fromEntries((post?.parameters ?? []).map(({ name, example }) => [name, example]));
  const body = JSON.stringify(post?.requestBody.content["application/json"].example);

  expect(PAGE).toContain(`\n${body}\n`);
  expect(PAGE).toContain(`\`${headers["X-Bridge-Signature"]}\``);
  expect(PAGE).toContain(`\`${headers["webhook-signature"]?.split(" ")[0]}\``);
  expect(PAGE).toContain(`\`${/whsec_[\w+/=]+/.exec(post?.description ?? "")?.[0]}\``);
  for (const [event, { post: described }] of sent) {
    const { data } = described.requestBody.content["application/json"].example as { readonly data: object };
    const line =
      PAGE.split("\n").find((one) => one.startsWith(`| \`${event}\``) || one.startsWith(`\`${event}\``)) ?? "";
    const fields = event === "mapping.deactivated" ? [] : Object.keys(data);
    for (const field of fields) expect(`${event}: ${line}`).toContain(`\`${field}\``);
    expect(line).not.toBe("");
  }
});
