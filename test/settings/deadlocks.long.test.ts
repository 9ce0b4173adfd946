/** The test of `deadlocks.test.ts` with every route that may meet a deadlock. */
process.env["WHOLE_GRID"] = "yes";
await import("./deadlocks.test.ts");
