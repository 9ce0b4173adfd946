import { measureParts } from "./parts.ts";
import { measureBeats } from "./sync/beats.ts";
import { measureClaims } from "./sync/claims.ts";
import { measureCycles } from "./sync/cycles.ts";
import { measureDoorbells, measureLatency } from "./sync/latency.ts";
import { measureFirstLoad, measureSweep } from "./sync/load.ts";
import { measurePush } from "./sync/push.ts";
import { FULL, QUICK } from "./sync/sizes.ts";

await measureParts({
  program: import.meta.filename,
  help: `npm run bench:sync [-- --quick] [--only load,push] [--json]

How fast the sync engine is, as ratios within one run: on the same machine, against the same PostgreSQL, and against an
org in a process of its own. doorbells takes three to eight minutes with --quick as well, until the death of the
doorbells is noticed.`,
  parts: {
    load: measureFirstLoad,
    sweep: measureSweep,
    push: measurePush,
    cycles: measureCycles,
    beats: measureBeats,
    claims: measureClaims,
    latency: measureLatency,
    doorbells: measureDoorbells,
  },
  sizes: { full: FULL, quick: QUICK },
});
