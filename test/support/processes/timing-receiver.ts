import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * A receiver in a process of its own that notes when each delivery came. `/never` never answers, `/slow` after three
 * seconds. By IPC it reports its port, and on request what came since the last one: path, event id, and epoch milliseconds.
 */
export interface Arrival {
  readonly path: string;
  readonly eventId: string;
  readonly at: number;
}

if (process.send) {
  let arrivals: Arrival[] = [];
  const server = createServer((request, response) => {
    const at = performance.timeOrigin + performance.now();
    arrivals.push({ path: request.url ?? "", eventId: String(request.headers["webhook-id"]), at });
    request.resume();
    const answer = () => void response.writeHead(200).end("ok");
    if (request.url === "/slow") setTimeout(answer, 3000);
    else if (request.url !== "/never") answer();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  process.on("message", (message) => {
    process.send?.(message === "count" ? { count: arrivals.length } : { arrivals });
    if (message !== "count") arrivals = [];
  });
  process.on("disconnect", () => process.exit());
  process.send({ port: (server.address() as AddressInfo).port });
}
