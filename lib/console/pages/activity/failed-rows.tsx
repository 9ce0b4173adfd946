import type { DismissRowsBody, DismissRowsData, ListFailuresData, RetryRowsBody, RetryRowsData } from "bridge/api";
import { RotateCw } from "lucide-react";
import { questions } from "../../api/questions.ts";
import { useAct, useAnswer } from "../../api/use.ts";
import { ActButton } from "../../parts/acts/act-button.tsx";
import { List } from "../../parts/list.tsx";
import { Bones } from "../../parts/page.tsx";
import { Ago } from "../../parts/time.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { count, counted } from "../../parts/words.ts";
import { hrefOf } from "../../route.ts";
import { Correct } from "./correct.tsx";

type Kind = ListFailuresData[number];
type Row = NonNullable<Kind["rows"]>[number];

/** The latest rows of a kind, each with its key and the value that Salesforce refused. */
export function FailedRows({ kind }: { readonly kind: Kind }) {
  const { data, error, refetch } = useAnswer(questions.failedRows(kind.fingerprint), { everySeconds: 15 });
  const rows = data?.data[0]?.rows ?? [];
  if (error && !data) return <Trouble error={error} again={() => void refetch()} />;
  if (!data) return <Bones lines={4} />;
  return (
    <>
      <List
        caption={`Failed rows of ${kind.table_name}, the latest first`}
        head={["Row", "Refused value", ["Captured", "wide"]]}
        acts
      >
        {rows.map((row) => (
          <FailedRow key={row.id} row={row} kind={kind} />
        ))}
      </List>
      {rows.length < kind.count && (
        <p className="small muted">
          The latest {count(rows.length)} of {count(kind.count)} are shown.
        </p>
      )}
    </>
  );
}

function FailedRow({ row, kind }: { readonly row: Row; readonly kind: Kind }) {
  const values = Object.entries(row.values ?? {});
  return (
    <tr>
      <td className="breaks">
        <a className="row-link" href={hrefOf(`/activity/${row.id}`)}>
          {row.name ?? row.sfid ?? kind.table_name}
        </a>
        <a className="sub mono" href={hrefOf(`/rows/${kind.table_name}`, { key: String(row.record_id) })}>
          id = {row.record_id}
        </a>
      </td>
      <td className="breaks">
        {values.length > 0 && (
          <Correct
            table={kind.table_name}
            recordId={row.record_id}
            columns={values.map(([column]) => ({ column }))}
            shown={row.values ?? {}}
          />
        )}
        {values.length === 0 && row.error !== kind.sample && <span className="mono small">{row.error}</span>}
      </td>
      <td className="wide once">
        <Ago at={row.at} />
      </td>
      <td className="acts-cell">
        <Dismiss what={{ id: row.id }} total={1} name={`row ${row.record_id}`} />
      </td>
    </tr>
  );
}

/** Makes failed changes wait again. */
export function Retry({
  what,
  total,
  name,
}: {
  readonly what: RetryRowsBody;
  readonly total: number;
  readonly name: string;
}) {
  const words = total === 1 ? "Retry it" : `Retry all ${count(total)}`;
  const retry = useAct<RetryRowsData>(() => ({ method: "POST", path: "/monitoring/errors/retry", body: what }));
  return (
    <ActButton
      act={retry}
      scope="operate"
      done={retried}
      compact
      icon={<RotateCw size={14} aria-hidden />}
      aria-label={`${words} ${name}`}
    >
      {words}
    </ActButton>
  );
}

/** The result of a retry, as a title and a sentence. */
export function retried({ retried: rows, remaining }: RetryRowsData): [title: string, says: string] {
  if (rows === 0) return ["Nothing was left to retry", "Each row has a newer change, or its change waits already."];
  const more = remaining > 0 ? ` ${counted(remaining, "more")} can be retried after these.` : "";
  return [
    `${counted(rows, "row")} wait${rows === 1 ? "s" : ""} again`,
    `The next cycle sends them, within ten seconds.${more}`,
  ];
}

interface DismissProps {
  readonly what: DismissRowsBody;
  readonly total: number;
  readonly name: string;
}

/** Dismisses failed changes; a change of the row still sends what was dismissed of it. */
export function Dismiss({ what, total, name }: DismissProps) {
  const words = total === 1 ? "Dismiss" : `Dismiss all ${count(total)}`;
  const dismiss = useAct<DismissRowsData>(() => ({ method: "POST", path: "/monitoring/errors/dismiss", body: what }));
  return (
    <ActButton
      act={dismiss}
      scope="operate"
      done={({ dismissed }) => [
        `${counted(dismissed, "failure")} dismissed`,
        "They stay in the trigger log. The next change of a row sends all of it.",
      ]}
      compact
      kind="plain"
      aria-label={`${words} ${name}`}
    >
      {words}
    </ActButton>
  );
}
