/** The test of `doorbells.test.ts` with ten thousand rings a minute. */
process.env["WHOLE_GRID"] = "yes";
await import("./doorbells.test.ts");
