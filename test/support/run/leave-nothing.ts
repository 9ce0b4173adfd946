import { flushCompileCache } from "node:module";
import { afterAll, vi } from "vitest";
import { forgetSecrets } from "./secrets.ts";

forgetSecrets();

/** The variables with which this test file begins. */
const before = { ...process.env };

// The next test file may have the same process.
afterAll(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
  flushCompileCache(); // else Node keeps what it has compiled only at an end of its own: Vitest ends its workers by a signal
});
