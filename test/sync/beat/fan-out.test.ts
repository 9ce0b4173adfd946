import { expect, test } from "vitest";
import type { CyclesMessage, TickMessage } from "../../../lib/model/messages.ts";
import { fanOut } from "../../../lib/sync/beat/fan-out.ts";

const NOW = new Date("2026-02-03T10:00:20Z");

const tick = (workspace: string, mapping: string, minute = "2026-02-03T10:00:00Z"): TickMessage => ({
  workspace_id: workspace,
  mapping_id: mapping,
  scheduled_at: minute,
});

/** The messages that these ticks become. */
async function messagesOf(ticks: readonly TickMessage[]): Promise<CyclesMessage[]> {
  const sent: CyclesMessage[] = [];
  const cycles = {
    send: async (messages: readonly { readonly message: CyclesMessage }[]) => {
      sent.push(...messages.map(({ message }) => message));
    },
  };
  const clock = { now: () => NOW.getTime(), at: () => () => undefined };
  await fanOut({ cycles, clock }, ticks);
  return sent;
}

const mappingsIn = ({ mapping_id, also = [] }: CyclesMessage) => [mapping_id, ...also];

test("mappings of one workspace share the messages of their beats, ten in each", async () => {
  const ticks = Array.from({ length: 23 }, (_, number) => tick("ws_a", `map_${number}`));

  const messages = await messagesOf(ticks);

  const slots = Map.groupBy(messages, ({ slot }) => slot);
  expect(slots.size).toBe(6);
  for (const ofSlot of slots.values()) {
    expect(ofSlot.map((message) => mappingsIn(message).length)).toEqual([10, 10, 3]);
    expect(ofSlot.flatMap(mappingsIn).sort()).toEqual(ticks.map(({ mapping_id }) => mapping_id).sort());
  }
});

test("workspaces and minutes never share one", async () => {
  const messages = await messagesOf([tick("ws_a", "map_1"), tick("ws_b", "map_2"), tick("ws_a", "map_3", NEXT_MINUTE)]);

  expect(messages.every((message) => mappingsIn(message).length === 1)).toBe(true);
  expect(messages).toHaveLength(18);
});

test("a tick that came twice asks for each beat once", async () => {
  const messages = await messagesOf([tick("ws_a", "map_1"), tick("ws_a", "map_1")]);

  expect(messages.map(mappingsIn)).toEqual(Array(6).fill(["map_1"]));
});

const NEXT_MINUTE = "2026-02-03T10:01:00Z";
