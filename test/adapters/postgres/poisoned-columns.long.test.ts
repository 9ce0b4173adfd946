/** The tests of `poisoned-columns.test.ts` with every value in every column. */
process.env["WHOLE_GRID"] = "yes";
await import("./poisoned-columns.test.ts");
