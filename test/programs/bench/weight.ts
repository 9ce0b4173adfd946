import { measureParts } from "./parts.ts";
import { measureCycles } from "./weight/cycles.ts";
import { measureGrowth } from "./weight/growth.ts";
import { measureSingle } from "./weight/single.ts";
import { measureKnees, measureNotes } from "./weight/steps.ts";

await measureParts({
  program: import.meta.filename,
  help: `npm run bench:weight [-- --quick] [--only cycles,knees] [--json]

What Bridge costs the server of the application's database: statements, planning and executing, WAL. The parts: cycles;
knees and settled (beside growing numbers of NEW and of settled changes, which take 12 GB and minutes); mappings and
workspaces (growing numbers of them); single (an UPDATE of one row); notes (WAL of idle beats).`,
  parts: {
    cycles: measureCycles,
    knees: (bench, { changes }) => measureKnees(bench, "NEW", changes),
    settled: (bench, { changes }) => measureKnees(bench, "settled", changes),
    mappings: (bench, { mappings }) => measureGrowth(bench, "mappings", mappings),
    workspaces: (bench, { workspaces }) => measureGrowth(bench, "workspaces", workspaces),
    single: measureSingle,
    notes: (bench, { noted }) => measureNotes(bench, noted),
  },
  sizes: {
    full: {
      changes: [1_000, 100_000, 1_000_000, 10_000_000],
      mappings: [1, 10, 50, 200],
      workspaces: [1, 5, 20],
      noted: [1, 10, 50],
    },
    quick: { changes: [1_000, 20_000], mappings: [1, 10], workspaces: [1, 5], noted: [10] },
  },
  settings: { "pg_stat_statements.track_planning": "on" },
});
