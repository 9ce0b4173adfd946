/** The tests of `identifiers.test.ts` with every place of a name. */
process.env["WHOLE_GRID"] = "yes";
await import("./identifiers.test.ts");
