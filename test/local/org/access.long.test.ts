import { generateKeyPairSync, sign } from "node:crypto";
import { expect, test } from "vitest";
import { type Client, ManualClock, openOrg } from "./support/open-org.ts";

async function token({ org }: Client, form: Readonly<Record<string, string>>): Promise<Record<string, string>> {
  const response = await fetch(`${org.url}/services/oauth2/token`, { method: "POST", body: new URLSearchParams(form) });
  return (await response.json()) as Record<string, string>;
}

const refused = (error: string, error_description: string) => ({ error, error_description });

test("a JWT assertion opens a session until it expires, for this org alone, and by the key that the org knows", async () => {
  const signer = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const somebody = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const assertionKey = signer.publicKey.export({ type: "spki", format: "pem" }).toString();
  const clock = new ManualClock();
  const org = await openOrg({ clock, assertionKey });
  const now = clock.now().getTime() / 1000;
  const claims = { iss: org.org.clientId, sub: org.org.username, aud: org.org.url, exp: now + 180 };
  const ask = (changes: object = {}, { privateKey } = signer, alg = "RS256") => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const signed = `${part({ alg })}.${part({ ...claims, ...changes })}`;
    const signature = sign("sha256", Buffer.from(signed), privateKey).toString("base64url");
    const grant_type = "urn:ietf:params:oauth:grant-type:jwt-bearer";
    return token(org, { grant_type, assertion: `${signed}.${signature}` });
  };

  const inSeconds = await ask();
  const inMilliseconds = await ask({ exp: (now + 180) * 1000, aud: `${org.org.url}/` }); // as Salesforce's command line

  for (const { access_token = "" } of [inSeconds, inMilliseconds]) {
    org.token = access_token;
    expect((await org.get("limits")).status).toBe(200);
  }
  expect(await ask({ exp: now - 1 })).toEqual(refused("invalid_grant", "assertion is expired"));
  expect(await ask({ aud: "https://elsewhere.example" })).toEqual(refused("invalid_grant", "audience is invalid"));
  for (const forged of [await ask({}, somebody), await ask({}, somebody, "none")])
    expect(forged).toEqual(refused("invalid_grant", "invalid assertion"));
});
