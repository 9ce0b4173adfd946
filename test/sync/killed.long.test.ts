/** The tests of `killed.test.ts` with a kill at every step. */
process.env["WHOLE_GRID"] = "yes";
await import("./killed.test.ts");
