/** The tests of `audit.test.ts` with months and long ranges. */
process.env["WHOLE_GRID"] = "yes";
await import("./audit.test.ts");
