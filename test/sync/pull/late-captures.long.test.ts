/** The tests of `late-captures.test.ts` with every trigger. */
process.env["WHOLE_GRID"] = "yes";
await import("./late-captures.test.ts");
