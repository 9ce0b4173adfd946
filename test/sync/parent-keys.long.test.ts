/** The tests of `parent-keys.test.ts` with the child that waits for a month. */
process.env["WHOLE_GRID"] = "yes";
await import("./parent-keys.test.ts");
