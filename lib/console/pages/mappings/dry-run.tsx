import type { ReadDryRunData, ReadMappingData } from "bridge/api";
import { questions } from "../../api/questions.ts";
import { useScopes } from "../../api/scopes.ts";
import { useAct, useAnswer } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { Card } from "../../parts/page.tsx";
import { useSay } from "../../parts/toast.tsx";
import { counted } from "../../parts/words.ts";

/** What a first load would change, before it begins: how rows and records of the same key differ. */
export function DryRun({ mapping }: { readonly mapping: ReadMappingData }) {
  const { refusal } = useScopes();
  const say = useSay();
  const path = `/mappings/${mapping.id}`;
  const { data } = useAnswer(questions.dryRun(mapping.id), { everySeconds: 3, when: refusal("operate") === null });
  const start = useAct<ReadDryRunData>(() => ({ method: "POST", path: `${path}/dry-run` }));
  const agree = useAct<unknown, string>((digest) => ({ method: "POST", path: `${path}/activate`, query: { digest } }));
  const run = data?.data;
  const isUnderWay = run?.state === "running" || run?.state === "failing";
  const digest = run?.state === "done" && !run.confirmed ? run.digest : null;
  return (
    <Card title="Before the first load">
      <p>Rows that have a record of the same key, and what the first load would change. Looking changes nothing.</p>
      {run?.error && <p>{run.error}</p>}
      {isUnderWay && (
        <p>
          {counted(run.read, "record")}
          {run.records === null ? "" : ` of ${run.records}`} compared
        </p>
      )}
      {run?.state === "done" && <Found run={run} />}
      <Button
        busy={start.isPending || isUnderWay}
        refused={refusal("admin")}
        onClick={() => start.mutate(undefined, { onError: say.failed })}
      >
        Compare
      </Button>
      {digest !== null && (
        <Button
          busy={agree.isPending}
          refused={refusal("admin")}
          onClick={() =>
            agree.mutate(digest, { onSuccess: () => say.done("The first load begins"), onError: say.failed })
          }
        >
          Agree and activate
        </Button>
      )}
    </Card>
  );
}

function Found({ run }: { readonly run: ReadDryRunData }) {
  return (
    <>
      <p>
        {counted(run.matched, "row")} with a record, {run.differing} of them differing: {run.records_changed} would
        change in Salesforce, {run.rows_changed} in PostgreSQL.
        {run.records_refused > 0 &&
          ` ${counted(run.records_refused, "record")} will not become rows, because a column cannot hold a value.`}
      </p>
      <ul className="names">
        {run.fields.map(({ field, rows }) => (
          <li key={field}>
            <span className="mono">{field}</span>: {counted(rows, "row")}
          </li>
        ))}
      </ul>
      {run.samples.map(({ sfid, differences }) => (
        <dl className="facts" key={sfid}>
          <dt className="mono">{sfid}</dt>
          {differences.map(({ field, postgres, salesforce, winner, refused }) => (
            <dd key={field}>
              {field}: <code>{postgres ?? "NULL"}</code> here, <code>{salesforce ?? "NULL"}</code> there;{" "}
              {refused ?? `${winner} wins`}
            </dd>
          ))}
        </dl>
      ))}
    </>
  );
}
