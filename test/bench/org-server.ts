import { startOrg } from "../../lib/local/org/start-org.ts";

/** Runs an org on the folder given as the argument, with calls enough for any benchmark, and says where it is. */
const [, , dataDir = ""] = process.argv;
const org = await startOrg({ dataDir, dailyApiRequests: 1_000_000_000, controls: true });
console.log(JSON.stringify({ url: org.url, token: org.accessToken }));
