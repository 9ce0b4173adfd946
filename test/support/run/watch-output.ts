import { afterAll } from "vitest";
import { guardConnections } from "../../../lib/network/guarded-dns.ts";
import { refuseSecrets } from "./secrets.ts";

// Tests of an adapter alone; tests through the composition are judged by its rules.
guardConnections(() => null);

/** Everything that this test file and the functions in its process print; searched when the file has ended. */
const printed: string[] = [];

/** Takes the watch off again: the next test file may have the same process. */
const unwatch: (() => void)[] = [];

for (const name of ["debug", "log", "info", "warn", "error"] as const) {
  const print = console[name];
  console[name] = (...parts: unknown[]) => {
    printed.push(parts.map(String).join(" "));
    print.apply(console, parts);
  };
  unwatch.push(() => {
    console[name] = print;
  });
}
for (const stream of [process.stdout, process.stderr]) {
  const { write } = stream;
  stream.write = ((chunk: string | Uint8Array, ...more: never[]) => {
    printed.push(typeof chunk === "string" ? chunk : Buffer.from(chunk).toString());
    return write.call(stream, chunk, ...more);
  }) as typeof stream.write;
  unwatch.push(() => {
    stream.write = write;
  });
}

afterAll(() => {
  for (const end of unwatch) end();
  refuseSecrets("what was printed", printed.join("\n"));
});
