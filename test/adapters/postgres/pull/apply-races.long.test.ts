/** The tests of `apply-races.test.ts` with those that wait for locks. */
process.env["WHOLE_GRID"] = "yes";
await import("./apply-races.test.ts");
