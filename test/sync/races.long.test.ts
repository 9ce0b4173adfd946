/** The tests of `races.test.ts` with 50,000 records of one second. */
process.env["WHOLE_GRID"] = "yes";
await import("./races.test.ts");
