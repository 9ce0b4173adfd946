import { type ParseArgsOptionsConfig, parseArgs } from "node:util";

type Values<Options extends ParseArgsOptionsConfig> = ReturnType<typeof parseArgs<{ options: Options }>>["values"];

/**
 * Reads the options that this program was started with. `--help` prints the text and ends the process. An unknown
 * option, or one without its value, ends it with a sentence.
 */
export function readOptions<const Options extends ParseArgsOptionsConfig>(
  help: string,
  options: Options,
): Values<Options> {
  try {
    const { values } = parseArgs({ options: { ...options, help: { type: "boolean" } } as const });
    if (!("help" in values && values.help)) return values as Values<Options>;
    console.log(help.trim());
  } catch (error) {
    console.error(sentenceOf(error));
    process.exit(1);
  }
  process.exit();
}

/** Node adds advice on arguments that begin with a hyphen, which none of these programs takes. */
function sentenceOf(error: unknown): string {
  const [reason] = error instanceof Error ? error.message.split(/\.\s/) : [String(error)];
  return `${reason}: --help names the options`;
}
