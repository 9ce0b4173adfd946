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
