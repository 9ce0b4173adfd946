import { flushCompileCache } from "node:module";
import { afterAll } from "vitest";

// Vitest ends its workers by a signal, but Node keeps what it has compiled only at an end of its own.
afterAll(() => flushCompileCache());
