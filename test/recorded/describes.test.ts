import { afterAll, beforeAll, expect, test } from "vitest";
import type { DescribedObject } from "../../lib/model/mapping/describe.ts";
import { isMappable, traitsOf } from "../../lib/model/mapping/field-type.ts";
import { describedBy, type RecordedDescribe } from "./described-by.ts";
import { openPlayer, type Player } from "./play.ts";
import { named, recorded } from "./recorded.ts";

let player: Player;
beforeAll(async () => {
  player = await openPlayer();
});
afterAll(() => player.close());

const DESCRIBES = recorded<RecordedDescribe>("describes");

test.each(named(DESCRIBES))("the describe of %s is read whole", async (_, answer) => {
  const described = describedBy(answer);

  const { read } = await player.play({ ask: "describe", text: JSON.stringify(described) });

  const { fields, ...object } = read as DescribedObject;
  expect(object).toMatchObject(answer.object);
  expect(fields).toEqual(
    described.fields.map((field) => expect.objectContaining({ name: field.name, type: field.type })),
  );
  expect(fields).toHaveLength(answer.fields.length);
});

test.each(named(DESCRIBES))("every field of %s has a column, compound ones aside", async (_, answer) => {
  const { fields } = describedBy(answer);

  expect([...new Set(fields.map(({ type }) => type).filter((type) => !isMappable(type)))]).toEqual(
    fields.some(({ type }) => type === "address") ? ["address"] : [],
  );
  for (const field of fields.filter(({ type }) => isMappable(type)))
    expect(traitsOf(field.type).column(field)).toMatch(
      /^(varchar\(\d+\)|text|numeric|integer|boolean|date|timestamptz|time|bigint)$/,
    );
});
