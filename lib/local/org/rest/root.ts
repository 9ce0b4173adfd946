import { ok, type RestCall, type RestReply } from "./rest-call.ts";

const FIRST_VERSION = 45;
const LATEST_VERSION = 66;
const SEASONS = ["Winter", "Spring", "Summer"] as const;

/** All API versions the org speaks, as `GET /services/data` lists them. */
export function versions(): { label: string; url: string; version: string }[] {
  return Array.from({ length: LATEST_VERSION - FIRST_VERSION + 1 }, (_, index) => {
    const version = FIRST_VERSION + index;
    // Three releases a year, the first of them called Winter: 65 is Winter '26, 66 is Spring '26.
    const season = SEASONS[(version - 65 + 300) % 3] ?? "Winter";
    const year = 26 + Math.floor((version - 65) / 3);
    return { label: `${season} '${String(year)}`, url: `/services/data/v${version}.0`, version: `${version}.0` };
  });
}

/** True for the versions 45 to 66, with or without `.0`. */
export function isSpoken(version: string): boolean {
  return Number(version) >= FIRST_VERSION && Number(version) <= LATEST_VERSION;
}

/** `GET /services/data/vXX.X`: where the parts of the API are. */
export function resources({ base, parts, session, origin }: RestCall): RestReply {
  const names = [
    "tooling",
    "query",
    "queryAll",
    "sobjects",
    "limits",
    "composite",
    "search",
    "parameterizedSearch",
    "jobs",
    "recent",
  ];
  const listed = Object.fromEntries(names.map((name) => [name, `${base}/${name}`]));
  return ok({ ...listed, identity: `${origin}/id/${parts.identity.organizationId}/${session.userId}` });
}

/** What identifies a user begins with https:// even where the org itself is reached without (reference 13). */
export function secure(origin: string): string {
  return origin.replace(/^http:/, "https:");
}
