/** The test of `heroku-connect-broken-off.test.ts` with a cut before every statement. */
process.env["WHOLE_GRID"] = "yes";
await import("./heroku-connect-broken-off.test.ts");
