/** The tests of `figures.test.ts` with everything that may prevent a cycle. */
process.env["WHOLE_GRID"] = "yes";
await import("./figures.test.ts");
