import { type LoadOrder, loadByCopy, loadByEngine } from "./load-ways.ts";

/** One way of loading, in a process of its own, so that its memory is its own: prints the result as JSON. */
const order = JSON.parse(process.argv[2] ?? "") as LoadOrder;
const outcome = await (order.way === "copy" ? loadByCopy : loadByEngine)(order);
console.log(JSON.stringify({ ...outcome, peakMiB: process.resourceUsage().maxRSS / 1024 }));
process.exit();
