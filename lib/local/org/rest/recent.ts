import { nameFieldOf, type SObject } from "../metadata/sobject.ts";
import type { Parts } from "../parts.ts";
import { ok, type RestCall, type RestReply } from "../rest-call.ts";
import { quoted } from "../store/database.ts";

const MAX_RECENT = 200;

/** A record as lists of recent ones show it, with when it was last looked at. */
interface Viewed {
  readonly at: string;
  readonly record: Readonly<Record<string, unknown>>;
}

/** `GET /recent?limit=n`: what was looked at last, by queries that end in FOR VIEW. */
export function recent(call: RestCall): RestReply {
  const limit = Math.min(MAX_RECENT, Number(call.query.get("limit") ?? MAX_RECENT) || MAX_RECENT);
  const viewed = call.parts.catalog.objects.flatMap((object) => viewedOf(call, object, limit));
  return ok(
    viewed
      .toSorted((a, b) => (a.at < b.at ? 1 : -1))
      .slice(0, limit)
      .map(({ record }) => record),
  );
}

/** The records of an object that were looked at last, newest first. */
export function viewedOf({ parts, base }: RestCall, object: SObject, limit: number): Viewed[] {
  const name = nameFieldOf(object);
  if (!object.field("LastViewedDate") || !name) return [];
  const alive = object.field("IsDeleted") ? ' AND "IsDeleted" = 0' : "";
  const sql = `SELECT "Id", ${quoted(name.name)}, "LastViewedDate" FROM ${quoted(object.name)} WHERE "LastViewedDate" IS NOT NULL${alive} ORDER BY "LastViewedDate" DESC LIMIT ?`;
  return parts.database.tuples(sql, [limit]).map(([id, title, at]) => ({
    at: String(at),
    record: {
      attributes: { type: object.name, url: `${base}/sobjects/${object.name}/${String(id)}` },
      Id: id,
      [name.name]: title,
    },
  }));
}

/** Notes that these records were looked at now; that is no change of theirs, so their stamps stay. */
export function noteViewed({ database, clock }: Parts, object: SObject, ids: readonly string[]): void {
  if (!object.field("LastViewedDate")) return;
  const at = clock.now().toISOString();
  for (const id of ids)
    database.run(
      `UPDATE ${quoted(object.name)} SET "LastViewedDate" = ?, "LastReferencedDate" = ? WHERE "Id" = ?`,
      at,
      at,
      id,
    );
}

/** `GET /tabs`: one per object. */
export function tabs({ parts, origin }: RestCall): RestReply {
  const icons = (name: string) => [
    {
      contentType: "image/png",
      height: 32,
      theme: "theme3",
      url: `${origin}/img/icon/${name.toLowerCase()}32.png`,
      width: 32,
    },
  ];
  return ok(
    parts.catalog.objects.map((object) => ({
      colors: [],
      custom: object.custom,
      iconUrl: `${origin}/img/icon/${object.name.toLowerCase()}32.png`,
      icons: icons(object.name),
      label: object.labelPlural,
      miniIconUrl: `${origin}/img/icon/${object.name.toLowerCase()}16.png`,
      name: `standard-${object.name}`,
      sobjectName: object.name,
      url: `${origin}/${object.keyPrefix}/o`,
    })),
  );
}

/** `GET /theme`: every object in one colour. */
export function theme({ parts }: RestCall): RestReply {
  const colors = [{ color: "236FBD", context: "primary", theme: "theme3" }];
  return ok({ themeItems: parts.catalog.objects.map(({ name }) => ({ name, colors, icons: null })) });
}
