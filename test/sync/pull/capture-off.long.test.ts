/** The tests of `capture-off.test.ts` with every way in which capture goes off. */
process.env["WHOLE_GRID"] = "yes";
await import("./capture-off.test.ts");
