import { appendFileSync } from "node:fs";

/** What was typed behind the name of a program that a stub replaces. */
export const typed = process.argv.slice(2);

/** Ends the stub as its program ends for what it does not know. */
export function refuse(message: string): never {
  console.error(`stub: ${message}: ${typed.join(" ")}`);
  process.exit(64);
}

/** Writes down that the program was called, for the test to read, where `STUB_CALLS` names a file. */
export function keepCall(program: string): void {
  const file = process.env["STUB_CALLS"];
  if (file !== undefined) appendFileSync(file, `${[program, ...typed].join(" ")}\n`);
}
