/** The tests of `shared-beat.test.ts` with those that take hours of simulated time. */
process.env["WHOLE_GRID"] = "yes";
await import("./shared-beat.test.ts");
