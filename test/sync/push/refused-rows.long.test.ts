/** The tests of `refused-rows.test.ts` with every trouble on every kind of mapping, and as many rows as the product needs for a job. */
process.env["WHOLE_GRID"] = "yes";
await import("./refused-rows.test.ts");
