/** The test of `chaos.test.ts` with more seeds. */
process.env["WHOLE_GRID"] = "yes";
await import("./chaos.test.ts");
