import { openOrg } from "../../../lib/local/org/run-org.ts";

/** Runs an org on the folder, and with the definition, given as arguments, with calls enough for any benchmark; says where it is. */
const [, , dataDir = "", definition = null] = process.argv;
const org = await openOrg({ dataDir, definition, port: 0, dailyApiRequests: 1_000_000_000, controls: true });
console.log(JSON.stringify({ ...org, token: org.accessToken }));

// The parent holds the other end, and closes it however it ends.
process.stdin.resume().once("end", () => process.exit());
