/** The tests of `long-values.test.ts` with 60 rows of 20 MB, and a text of 20 MB. */
process.env["WHOLE_GRID"] = "yes";
await import("./long-values.test.ts");
