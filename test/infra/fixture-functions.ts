import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROUTES, type Route } from "../../lib/http/routes.ts";
import { WORKERS } from "../../lib/model/resources.ts";

/** The source of each function that is not the default one, by its name. */
export type Sources = Readonly<Record<string, string>>;

const ANSWER = `export const handler = async (event) => ({ statusCode: 200, body: JSON.stringify(event) });\n`;
const STREAM = `
export const handler = awslambda.streamifyResponse(async (event, stream) => {
  awslambda.HttpResponseStream.from(stream, { statusCode: 200 }).end(JSON.stringify(event));
});
`;
const DO_NOTHING = "export const handler = async () => {};\n";

/** Writes a function for every row of the tables: endpoints echo their event, workers do nothing. Returns the folder. */
export function writeFunctions(folder: string, sources: Sources = {}): string {
  const files = [
    ...Object.entries<Route>(ROUTES).map(([name, { streams }]) => [`api/${name}`, streams ? STREAM : ANSWER] as const),
    ...Object.keys(WORKERS).map((name) => [`workers/${name}`, DO_NOTHING] as const),
    ["no-such-endpoint", ANSWER] as const,
    ["console", STREAM] as const,
  ];
  for (const [file, byDefault] of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, `${file}.ts`), sources[file.split("/").at(-1) ?? ""] ?? byDefault);
  }
  return folder;
}
