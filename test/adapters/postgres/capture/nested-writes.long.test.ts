/** The tests of `nested-writes.test.ts` with every statement, and triggers of every name and depth. */
process.env["WHOLE_GRID"] = "yes";
await import("./nested-writes.test.ts");
