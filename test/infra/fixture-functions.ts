import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { ROUTES } from "../../lib/http/routes.ts";
import { WORKERS } from "../../lib/model/resources.ts";

/** The source of each function that is not the default one, by its name. */
type Sources = Readonly<Record<string, string>>;

const ANSWER = `export const handler = async (event) => ({ statusCode: 200, body: JSON.stringify(event) });\n`;
const DO_NOTHING = "export const handler = async () => {};\n";

/** A folder that is removed when the test ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "bridge-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes a function for every row of the tables: endpoints echo their event, workers do nothing. Returns the folder. */
export function writeFunctions(folder: string, sources: Sources = {}): string {
  const files = [
    ...Object.keys(ROUTES).map((name) => [`api/${name}.ts`, sources[name] ?? ANSWER] as const),
    ...Object.keys(WORKERS).map((name) => [`workers/${name}.ts`, sources[name] ?? DO_NOTHING] as const),
    ["no-such-endpoint.ts", sources["no-such-endpoint"] ?? ANSWER] as const,
  ];
  for (const [file, source] of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), source);
  }
  return folder;
}
