import type { Clock } from "../../clock.ts";
import { conflict, invalid, notFound } from "./errors.ts";
import type { Firing } from "./firing.ts";
import type { GroupRow, SchedulerStore } from "./store.ts";

interface Needs {
  readonly store: SchedulerStore;
  readonly clock: Clock;
  readonly firing: Firing;
  readonly groupArnOf: (name: string) => string;
}

/** The group that every schedule without one belongs to. */
export const DEFAULT_GROUP = "default";

export function createGroup(
  { store, clock, groupArnOf }: Needs,
  name: string,
  tags: unknown,
): { ScheduleGroupArn: string } {
  if (store.group.get(name)) throw conflict(`Schedule group ${name} already exists.`);
  store.putGroup.run(name, JSON.stringify(tags ?? []), clock.now(), clock.now());
  return { ScheduleGroupArn: groupArnOf(name) };
}

/** Deletes a group with all its schedules. */
export function deleteGroup({ store, firing }: Needs, name: string): void {
  if (name === DEFAULT_GROUP) throw invalid("The default schedule group cannot be deleted.");
  if (!store.group.get(name)) throw notFound("Schedule group", name);
  store.transaction(() => {
    store.deleteSchedulesOf.run(name);
    store.deleteGroup.run(name);
  });
  firing.arm();
}

export function getGroup(needs: Needs, name: string) {
  const row = needs.store.group.get(name);
  if (!row) throw notFound("Schedule group", name);
  return groupSummary(needs, row);
}

/** A group as the API shows it. Times are epoch seconds. */
export function groupSummary({ groupArnOf }: Pick<Needs, "groupArnOf">, { name, created_at, modified_at }: GroupRow) {
  return {
    Arn: groupArnOf(name),
    Name: name,
    State: "ACTIVE",
    CreationDate: created_at / 1000,
    LastModificationDate: modified_at / 1000,
  };
}
