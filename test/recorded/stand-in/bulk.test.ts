import { test } from "vitest";
import { answerOf, expectStated, type Found } from "./compare.ts";
import { openStandIn, runJob } from "./embedded-org.ts";
import { shapeDifferences } from "./shapes.ts";

test("jobs of the Bulk API are as an org's, but for what is stated", async () => {
  const standIn = await openStandIn();
  const { made, started, complete } = await runJob(standIn);
  const query = await standIn.org.call("POST", "jobs/query", { operation: "query", query: "SELECT Id FROM Account" });
  const asked = [
    ["POST jobs/ingest", "a job that saves, made", made],
    ["PATCH jobs/ingest", "a job, its upload complete, without counters", started],
    ["GET jobs/ingest", "a job that is complete, with a failure", complete],
    ["POST jobs/query", "a job that queries, made", query],
  ] as const;

  expectStated(
    asked.map(([request, name, { json }]): Found => {
      const theirs = JSON.parse(answerOf("bulk", name).text) as { readonly createdDate: string };
      return [request, [...shapeDifferences(theirs, json), ...dateDifference(theirs.createdDate, json["createdDate"])]];
    }),
  );
});

test("files of results are as an org's, but for what is stated", async () => {
  const { failed, good } = await runJob(await openStandIn());
  const theirs = answerOf("bulk", "failed results: a bad date, some names without quotes").text;

  expectStated([
    ["GET failedResults", csvDifferences(theirs, failed.text)],
    ["GET successfulResults", csvDifferences(answerOf("bulk", "successful results").text, good.text)],
  ]);
});

function dateDifference(theirs: string, ours: unknown): readonly string[] {
  const form = (date: unknown) => String(date).replace(/\d/g, "0");
  return form(theirs) === form(ours) ? [] : [`createdDate is of the form ${form(ours)}, not ${form(theirs)}`];
}

/** Which of Salesforce's own names begin the first line, what of it is in quotes, and the code of a refusal. */
function csvDifferences(theirs: string, ours: string): readonly string[] {
  const names = (text: string) => text.split("\n")[0]?.split(",") ?? [];
  const own = (text: string) => names(text).slice(0, 2).join();
  const quoted = (text: string) =>
    names(text).every((name) => name.startsWith('"')) ? "all names in quotes" : "names of fields without quotes";
  const code = (text: string) => /"([A-Z_]+):/.exec(text)?.[1] ?? "none";
  return [
    ...(own(theirs) === own(ours) ? [] : [`begins with ${own(ours)}`]),
    ...(quoted(theirs) === quoted(ours) ? [] : [`${quoted(ours)}, not ${quoted(theirs)}`]),
    ...(code(theirs) === code(ours) ? [] : [`code ${code(ours)}, not ${code(theirs)}`]),
  ];
}
