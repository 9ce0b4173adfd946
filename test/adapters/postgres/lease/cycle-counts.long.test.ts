/** The tests of `cycle-counts.test.ts` with a thousand cycles. */
process.env["WHOLE_GRID"] = "yes";
await import("./cycle-counts.test.ts");
