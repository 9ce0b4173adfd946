import { expect, test } from "vitest";
import type { CyclesMessage, TickMessage } from "../../../lib/model/messages.ts";
import { fanOut } from "../../../lib/sync/beat/fan-out.ts";
import type { Ticks } from "../../../lib/sync/ports/schedule-ports.ts";

/** Their phases are 0 and 1, so their periods begin at 10:00 and 10:01. */
const [ONE, OTHER] = ["ws_d", "ws_e"] as const;
const NOW = new Date("2026-02-03T10:00:15Z");

const tick = (workspace: string, mapping: string, minute = "2026-02-03T10:00:00Z"): TickMessage => ({
  workspace_id: workspace,
  mapping_id: mapping,
  scheduled_at: minute,
});

const noted: Parameters<Ticks["note"]>[] = [];

/** The messages that these ticks become. */
async function messagesOf(ticks: readonly TickMessage[]): Promise<CyclesMessage[]> {
  const sent: CyclesMessage[] = [];
  const cycles = {
    send: async (messages: readonly { readonly message: CyclesMessage }[]) => {
      sent.push(...messages.map(({ message }) => message));
    },
  };
  const clock = { now: () => NOW.getTime(), at: () => () => undefined };
  noted.length = 0;
  const note = async (...one: Parameters<Ticks["note"]>) => void noted.push(one);
  await fanOut({ cycles, ticks: { note }, clock }, ticks);
  return sent;
}

const mappingsIn = ({ mapping_id, also = [] }: CyclesMessage) => [mapping_id, ...also];

test("workspaces and periods never share one", async () => {
  const messages = await messagesOf([
    tick(ONE, "map_1"),
    tick(OTHER, "map_2", MINUTE_AFTER),
    tick(ONE, "map_3", BEFORE),
  ]);

  expect(messages.every((message) => mappingsIn(message).length === 1)).toBe(true);
  expect(messages).toHaveLength(90);
});

test("what was sent is noted, once for all mappings of a workspace, and a tick between two periods is none", async () => {
  const late = tick(ONE, "map_3", MINUTE_AFTER);

  const messages = await messagesOf([tick(ONE, "map_1"), tick(ONE, "map_1"), late, tick(ONE, "map_2")]);

  expect(messages.map(mappingsIn), "each beat once, though a tick came twice").toEqual(
    Array(30).fill(["map_1", "map_2"]),
  );
  expect(noted).toEqual([[ONE, ["map_1", "map_2"], Date.parse("2026-02-03T10:00:00Z") / 1000]]);
});

const MINUTE_AFTER = "2026-02-03T10:01:00Z";
const BEFORE = "2026-02-03T09:55:00Z";
