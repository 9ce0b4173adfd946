import { readOptions } from "../../../lib/local/read-options.ts";
import { guardConnections } from "../../../lib/network/guarded-dns.ts";
import { type Figure, report } from "./figures.ts";
import { measureCycles } from "./weight/cycles.ts";
import { measureGrowth } from "./weight/growth.ts";
import { measureKnees } from "./weight/knees.ts";
import { measureNotes } from "./weight/notes.ts";
import { measureSingle } from "./weight/single.ts";

const HELP = `npm run bench:weight -- --server postgres://… [--only cycles,knees] [--mappings 10] [--sizes 1000,100000] [--json]

What Bridge costs the server of the application's database: statements, planning and executing, WAL.

  --server    a superuser's URL of a PostgreSQL of its own with shared_preload_libraries = pg_stat_statements and
              pg_stat_statements.track_planning = on; databases are created there and dropped
  --only      some of the parts: cycles; knees and settled (beside growing numbers of NEW and of settled changes);
              mappings and workspaces (growing numbers of them); single (writes of one row); notes (WAL of idle beats)
  --mappings  how many are idle
  --sizes     changes beside the steps of knees and settled: by default 1000 to 10,000,000, which take 12 GB and minutes
  --json      the figures as JSON

Prints each figure with its bar and a verdict, and ends with 1 when one is missed.`;

const options = readOptions(HELP, {
  server: { type: "string", default: "" },
  only: { type: "string", default: "cycles,knees,settled,mappings,workspaces,single,notes" },
  mappings: { type: "string", default: "10" },
  sizes: { type: "string", default: "1000,100000,1000000,10000000" },
  json: { type: "boolean", default: false },
});
const { server } = options;
const sizes = options.sizes.split(",").map(Number);

// The org and the database are this machine's own.
guardConnections(() => null);

const PARTS: Readonly<Record<string, () => Promise<Figure[]>>> = {
  cycles: () => measureCycles(server),
  knees: () => measureKnees(server, "NEW", sizes),
  settled: () => measureKnees(server, "settled", sizes),
  mappings: () => measureGrowth(server, "mappings", [1, 10, 50, 200]),
  workspaces: () => measureGrowth(server, "workspaces", [1, 5, 20]),
  single: () => measureSingle(server),
  notes: () => measureNotes(server, Number(options.mappings)),
};

const figures: Figure[] = [];
for (const part of options.only.split(",")) figures.push(...((await PARTS[part]?.()) ?? []));
report(figures, options);
