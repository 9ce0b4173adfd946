import { expect, test } from "vitest";
import { vault } from "../../../functions/services/composition.ts";
import { kmsDataKeys } from "../../../lib/adapters/secrets/data-keys.ts";
import { envelopeVault } from "../../../lib/adapters/secrets/vault.ts";
import { aCloud } from "../cloud.ts";

aCloud();
const freshVault = () => envelopeVault(kmsDataKeys(process.env["KEY_ID"] ?? "", () => new Date()));

test("what is sealed opens again for its workspace alone, in another process too, and is sealed differently each time", async () => {
  const sealed = await vault().seal("ws_1", "postgres://user:pässword@host/db");

  expect(await freshVault().open("ws_1", sealed)).toBe("postgres://user:pässword@host/db");
  expect(sealed).not.toContain("ssword");
  expect(await vault().seal("ws_1", "postgres://user:pässword@host/db")).not.toBe(sealed);
  await expect(vault().open("ws_2", sealed)).rejects.toThrow();
  await expect(freshVault().open("ws_2", sealed)).rejects.toThrow();
});

test("KMS itself opens a data key for its workspace alone", async () => {
  const keys = kmsDataKeys(process.env["KEY_ID"] ?? "", () => new Date());
  const { encrypted } = await keys.current("ws_1");

  await expect(keys.decrypt("ws_2", encrypted)).rejects.toThrow();
});

test("a data key seals for five minutes, so that after a change of the key nothing new needs the former one", async () => {
  let now = 0;
  const keys = kmsDataKeys(process.env["KEY_ID"] ?? "", () => new Date(now));
  const [first, second] = [await keys.current("ws_1"), await keys.current("ws_1")];
  now = 5 * 60_000;

  expect(second).toEqual(first);
  expect(await keys.current("ws_1")).not.toEqual(first);
});

test("a changed text does not open", async () => {
  const sealed = await vault().seal("ws_1", "secret");
  const [version, key, body = ""] = sealed.split(".");
  const changed = body.startsWith("A") ? `B${body.slice(1)}` : `A${body.slice(1)}`;

  await expect(vault().open("ws_1", [version, key, changed].join("."))).rejects.toThrow();
  await expect(vault().open("ws_1", "v0.a.b")).rejects.toThrow("not of version v1");
});
