/** The tests of `refused-rows.test.ts` with every trouble on every kind of mapping. */
process.env["WHOLE_GRID"] = "yes";
await import("./refused-rows.test.ts");
