import { startBenchServer } from "./sync/bench-database.ts";
import { measureCapture } from "./sync/capture.ts";
import { FULL } from "./sync/figure.ts";
import { report } from "./sync/report.ts";

/** `npm run bench:capture`: what capture costs an application that inserts 50,000 rows in one statement. */
const server = await startBenchServer();
try {
  report(await measureCapture(server, FULL));
} finally {
  await server.close();
}
