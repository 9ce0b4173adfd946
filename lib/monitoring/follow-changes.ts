import type { SealedWorkspace } from "../access/ports.ts";
import { type FeedPage, readCursor } from "../model/change/feed.ts";
import { Failure } from "../model/failure.ts";
import { RETENTION } from "../model/workspace/workspace.ts";
import type { Monitoring } from "./ports.ts";
import { withDatabase } from "./with-database.ts";

interface Asked {
  readonly workspace: SealedWorkspace;
  /** The cursor that the last page gave; null begins with the oldest change. */
  readonly since: string | null;
  readonly table: string | null;
  readonly limit: number;
  readonly at: Date;
}

/**
 * The changes after a cursor. VALIDATION_ERROR where it is none; CURSOR_EXPIRED where the log may have forgotten changes
 * after it, or belongs to another database by now.
 */
export async function followChanges(
  { monitoring }: { readonly monitoring: Monitoring },
  { workspace, since, table, limit, at }: Asked,
): Promise<FeedPage> {
  const place = since === null ? null : readCursor(since);
  if (since !== null && place === null) {
    const message = "must be `next` of an earlier page, as it was given";
    throw new Failure("VALIDATION_ERROR", `since: ${message}`, { details: [{ path: "since", message }] });
  }
  const { postgres } = await workspace.open();
  const { logDays } = { ...RETENTION, ...postgres?.retention };
  if (place !== null && place.at.getTime() < at.getTime() - logDays * 86_400_000) {
    throw new Failure(
      "CURSOR_EXPIRED",
      `this cursor is of ${place.at.toISOString()}, and settled changes stay in the log for ${logDays} days; ${BEGIN_ANEW}`,
    );
  }
  const page = await withDatabase(monitoring, workspace, (database) =>
    database.listChanges({ place, table, limit, at }),
  );
  if (page === null)
    throw new Failure(
      "CURSOR_EXPIRED",
      `this cursor is of a database that was since restored or replaced; ${BEGIN_ANEW}`,
    );
  return page;
}

const BEGIN_ANEW = "ask again without `since`, and compare your copy with the tables once";
