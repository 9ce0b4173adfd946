/** The tests of `delete-breaker.test.ts` with whole tables. */
process.env["WHOLE_GRID"] = "yes";
await import("./delete-breaker.test.ts");
