import type { ChangeRetentionData, ReadConnectionsData } from "bridge/api";
import { type Context, text, words } from "../context.ts";
import { CommandFailure } from "../failure.ts";

const DAYS = { log_days: "logDays", conflict_days: "conflictDays", tombstone_days: "tombstoneDays" };

/** Sets how long the workspace's database keeps what Bridge writes beside its rows; without options, shows it. */
export async function changeRetention(context: Context): Promise<void> {
  const days = Object.entries(DAYS).map(([name, option]) => [name, text(context, option)] as const);
  const retention = Object.fromEntries(
    days.flatMap(([name, given]) => (given === null ? [] : [[name, Number(given)]])),
  );
  const autovacuum = words(context, "autovacuum");
  const body = {
    ...retention,
    ...(autovacuum && { log_autovacuum: parametersIn(autovacuum) }),
  };
  const api = context.api();
  const { data } =
    Object.keys(body).length === 0
      ? await api.get<ReadConnectionsData>("/connections")
      : await api.patch<ChangeRetentionData>("/connections/postgres/retention", { body });
  if (data.postgres === null) {
    throw new CommandFailure("conflict", "no database is connected; connect one with: bridge connect postgres");
  }
  context.out.record({ ...data.postgres.retention, log_autovacuum: data.postgres.log_autovacuum });
}

/** `none`: whatever the owner of the log has set. */
function parametersIn(given: readonly string[]): Readonly<Record<string, number>> | null {
  if (given.join() === "none") return null;
  return Object.fromEntries(
    given.map((each) => {
      const [, name = "", value = ""] = /^(\w+)=(-?[\d.]+)$/.exec(each) ?? [];
      if (name === "") {
        throw new CommandFailure(
          "invalid",
          `--autovacuum ${each}: name parameters as vacuum_scale_factor=0.02, or none`,
        );
      }
      return [name, Number(value)];
    }),
  );
}
