import { createSecretKey } from "node:crypto";
import { describe, expect, test } from "vitest";
import { isWellFormed, mintToken, TOKEN_PATTERN, tokenHash } from "../../lib/access/token.ts";

describe("a token", () => {
  test.each(["read", "operate", "admin"] as const)(
    "with scope %s has the published form and checks itself",
    (scope) => {
      const token = mintToken(scope);

      expect(token).toMatch(TOKEN_PATTERN);
      expect(token.slice(0, 5)).toBe(`brg_${scope[0]}`);
      expect(token).toHaveLength(54);
      expect(isWellFormed(token)).toBe(true);
    },
  );

  test("is never given twice", () => {
    expect(new Set(Array.from({ length: 1000 }, () => mintToken("read"))).size).toBe(1000);
  });

  test("with any one character changed is not a token", () => {
    const token = mintToken("admin");

    for (let at = 4; at < token.length; at += 1) {
      const other = token[at] === "x" ? "y" : "x";
      expect(isWellFormed(token.slice(0, at) + other + token.slice(at + 1)), `position ${at}`).toBe(false);
    }
  });

  test.each(["", "brg_", "brg_a", "Bearer x", `${mintToken("read")} `, mintToken("read").slice(1)])(
    "%j is none",
    (text) => {
      expect(isWellFormed(text)).toBe(false);
    },
  );

  test("is kept under another hash by every service", () => {
    const token = mintToken("read");

    const hashBy = (secret: string) => tokenHash(token, { number: 1, key: createSecretKey(secret, "utf8") }).hash;

    expect(hashBy("one")).not.toBe(hashBy("two"));
    expect(hashBy("one")).not.toContain(token);
  });
});
