import { readOptions } from "../../../lib/local/read-options.ts";
import { startBenchServer } from "./sync/bench-database.ts";
import { measureCapture } from "./sync/capture.ts";
import { measureCapturePrice } from "./sync/capture-price.ts";
import { FULL } from "./sync/figure.ts";
import { report } from "./sync/report.ts";

const HELP = `npm run bench:capture [-- --json]

What capture costs an application, beside an audit trigger and logical decoding. Ends with 1 when a bar is missed.

  --json  the figures as JSON`;

const options = readOptions(HELP, { json: { type: "boolean", default: false } });
const server = await startBenchServer({ wal_level: "logical" });
try {
  report([...(await measureCapture(server, FULL)), ...(await measureCapturePrice(server))], options);
} finally {
  await server.close();
}
