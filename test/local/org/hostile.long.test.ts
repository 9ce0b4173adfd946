import fc from "fast-check";
import { expect, test } from "vitest";
import { isWholeGrid } from "../../support/run/whole-grid.ts";
import { openOrg } from "./support/open-org.ts";

test("no value that a client can put into a field makes the org fail, and what it accepts it gives back", async () => {
  const org = await openOrg();
  const { json } = await org.get("sobjects/Contact/describe");
  const names = [...(json["fields"] ?? [])]
    .filter((field) => field["createable"])
    .map((field) => String(field["name"]));

  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...names),
      fc.oneof(fc.jsonValue(), fc.string({ unit: "binary", maxLength: 40 })),
      async (name, value) => {
        const answer = await org.call("POST", "sobjects/Contact", { LastName: "Rose", [name]: value });
        expect([201, 400], `${name}: ${answer.text}`).toContain(answer.status);
        if (answer.status === 201) expect((await org.get(`sobjects/Contact/${answer.json["id"]}`)).status).toBe(200);
      },
    ),
    {
      numRuns: isWholeGrid ? 200 : names.length + 10,
      examples: names.map((name): [string, fc.JsonValue] => [name, { toString: false }]),
    },
  );
});

test("no comparison that a client can write makes the org fail", async () => {
  const org = await openOrg();
  const { json } = await org.get("sobjects/Contact/describe");
  const names = [...(json["fields"] ?? [])].map((field) => String(field["name"]));
  const texts = fc.string({ unit: "binary", maxLength: 20 }).map((text) => `'${text.replace(/[\\']/g, "\\$&")}'`);
  const others = "null true 5 1.5 TODAY LAST_N_DAYS:5 2026-01-01T00:00:00Z ('a','b')".split(" ");
  const literal = fc.oneof(texts, fc.constantFrom(...others, "(SELECT AccountId FROM Contact)"));

  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...names),
      fc.constantFrom("=", "!=", "<", ">=", "LIKE", "IN", "NOT IN", "INCLUDES"),
      literal,
      async (name, operator, value) => {
        const answer = await org.query(
          `SELECT Id, ${name} FROM Contact WHERE ${name} ${operator} ${value} ORDER BY ${name} LIMIT 5`,
        );
        expect([200, 400], answer.text).toContain(answer.status);
      },
    ),
    { numRuns: isWholeGrid ? 300 : 100 },
  );
});
