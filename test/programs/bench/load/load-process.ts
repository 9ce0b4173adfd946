import { type LoadOrder, loadByCopy, loadByEngine, loadByPages, loadByParts } from "./load-ways.ts";

/** One way of loading, in a process of its own, so that its memory is its own: prints the result as JSON. */
const order = JSON.parse(process.argv[2] ?? "") as LoadOrder;
const load = {
  engine: loadByEngine,
  sweep: loadByEngine,
  copy: loadByCopy,
  pages: loadByPages,
  parts: loadByParts,
}[order.way];
const outcome = await load(order);
console.log(JSON.stringify({ ...outcome, peakMiB: process.resourceUsage().maxRSS / 1024 }));
process.exit();
