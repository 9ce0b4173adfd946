import { readDrift as read } from "../../lib/config/drift.ts";
import { driftReport } from "../../lib/http/contract.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { baselines, mappings } from "../services/composition.ts";

export const handler = onLambda({
  route: "read-drift",
  onlyReads: true,
  summary: "Compares the live configuration with the most recent baseline.",
  output: driftReport,
  run: ({ workspace }) => read({ mappings: mappings(), baselines: baselines() }, workspace.id),
});
