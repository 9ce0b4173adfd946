/** The tests of `remove-workspace.test.ts` with what the customer has built. */
process.env["WHOLE_GRID"] = "yes";
await import("./remove-workspace.test.ts");
