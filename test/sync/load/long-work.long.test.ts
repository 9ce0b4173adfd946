/** The tests of `long-work.test.ts` with pages of 2,000 records, and more records than five of them hold. */
process.env["WHOLE_GRID"] = "yes";
await import("./long-work.test.ts");
