import { startCloud } from "../../../lib/local/cloud/start-cloud.ts";

/** Holds the cloud of a data folder until it is killed. */
const cloud = await startCloud({ dataDir: String(process.argv[2]) });
console.log(JSON.stringify(cloud.environment));
