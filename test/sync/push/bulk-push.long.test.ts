/** The tests of `bulk-push.test.ts` with as many rows as the product needs for a job. */
process.env["WHOLE_GRID"] = "yes";
await import("./bulk-push.test.ts");
