/** The tests of `org-refusals.test.ts` with every code, and as many rows as the product needs for a job. */
process.env["WHOLE_GRID"] = "yes";
await import("./org-refusals.test.ts");
