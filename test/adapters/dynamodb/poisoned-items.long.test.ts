/** The tests of `poisoned-items.test.ts`, and what the poisoned workspace's own readers meet of each value. */
process.env["WHOLE_GRID"] = "yes";
await import("./poisoned-items.test.ts");
