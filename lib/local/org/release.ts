const FIRST_VERSION = 45;
const LATEST_VERSION = 68;
const SEASONS = ["Winter", "Spring", "Summer"] as const;

/** What an org speaks and how its apps come in; the controls change it, as Salesforce and an administrator do. */
export interface Release {
  /** The newest API version. */
  newestVersion: number;
  /** Apps get JSON Web Tokens as access tokens, which SOAP takes from version 68 on. */
  jsonWebTokens: boolean;
  /** The audiences of assertions that apps are given; null: the org's own, and those of the common logins. */
  audiences: readonly string[] | null;
  /** The scopes of apps; null: all. */
  scopes: readonly string[] | null;
}

/** The release of an unchanged org. */
export const currentRelease = (): Release => ({
  newestVersion: LATEST_VERSION,
  jsonWebTokens: false,
  audiences: null,
  scopes: null,
});

/** All API versions up to the org's newest, as `GET /services/data` lists them. */
export function versions(newest: number): { label: string; url: string; version: string }[] {
  return Array.from({ length: newest - FIRST_VERSION + 1 }, (_, index) => {
    const version = FIRST_VERSION + index;
    // Three releases a year, the first of them called Winter: 65 is Winter '26, 66 is Spring '26.
    const season = SEASONS[(version - 65 + 300) % 3] ?? "Winter";
    const year = 26 + Math.floor((version - 65) / 3);
    return { label: `${season} '${String(year)}`, url: `/services/data/v${version}.0`, version: `${version}.0` };
  });
}

/** True for the versions from 45 to the org's newest, with or without `.0`. */
export function isSpoken(version: string, newest: number): boolean {
  return Number(version) >= FIRST_VERSION && Number(version) <= newest;
}
