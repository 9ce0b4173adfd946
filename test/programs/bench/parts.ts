import { readOptions } from "../../../lib/local/read-options.ts";
import { answer, apart } from "./apart.ts";
import { type Figure, report, say } from "./figures.ts";
import { type Bench, onBench } from "./sync/bench.ts";

/** One part of a benchmark, and how large it is: `FULL` is what the documentation says. */
export type Measure<Sizes> = (bench: Bench, sizes: Sizes) => Promise<Figure[]>;

interface Parts<Sizes> {
  /** The file that is run. */
  readonly program: string;
  readonly help: string;
  readonly parts: Readonly<Record<string, Measure<Sizes>>>;
  readonly sizes: { readonly full: Sizes; readonly quick: Sizes };
  /** Of PostgreSQL. */
  readonly settings?: Readonly<Record<string, string>>;
}

const OPTIONS = `
  --quick  small sizes, to see that it works; ratios of little work say little
  --only   some of the parts, separated by commas
  --json   the figures as JSON

Prints each figure with its bar and a verdict, and ends with 1 when one is missed. Progress goes to stderr.`;

/** Measures and reports the parts that are asked for. */
export async function measureParts<Sizes>({ program, help, parts, sizes, settings }: Parts<Sizes>): Promise<void> {
  const options = readOptions(`${help}\n${OPTIONS}\n\nParts: ${Object.keys(parts).join(", ")}`, {
    quick: { type: "boolean", default: false },
    only: { type: "string", default: Object.keys(parts).join(",") },
    json: { type: "boolean", default: false },
  });
  const names = options.only.split(",");
  const unknown = names.find((name) => !(name in parts));
  if (unknown !== undefined) throw new Error(`there is no part ${unknown}; --help names them`);
  const measure = async (name: string) => {
    say(name);
    return onBench(
      async (bench) => (await parts[name]?.(bench, options.quick ? sizes.quick : sizes.full)) ?? [],
      settings,
    );
  };
  if (process.send) return answer(await measure(options.only));
  const figures: Figure[] = [];
  // In a process of its own: what one part leaves behind, in memory or as an open connection, is not the next one's.
  for (const name of names)
    figures.push(
      ...(await apart<Figure[]>(program, ["--only", name, ...(options.quick ? ["--quick"] : [])]).catch((error) => {
        say(String(error)); // the other parts can still be measured
        return [{ name: `${name}: not measured`, value: 1, unit: "", atMost: 0 }];
      })),
    );
  report(figures, options);
}
