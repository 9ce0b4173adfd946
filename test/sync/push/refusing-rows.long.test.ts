/** The tests of `refusing-rows.test.ts` with as many rows as the product needs for a job. */
process.env["WHOLE_GRID"] = "yes";
await import("./refusing-rows.test.ts");
