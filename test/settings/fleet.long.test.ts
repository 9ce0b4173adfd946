/** The tests of `fleet.test.ts` with two hundred mappings. */
process.env["WHOLE_GRID"] = "yes";
await import("./fleet.test.ts");
