import type { ListFailuresData, RetryRowsData } from "bridge/api";
import { CircleCheck } from "lucide-react";
import { useState } from "react";
import { questions } from "../../api/questions.ts";
import { useScopes } from "../../api/scopes.ts";
import { useAct, useAnswer } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { Bones, Card, Empty } from "../../parts/page.tsx";
import { Ago } from "../../parts/time.tsx";
import { useSay } from "../../parts/toast.tsx";
import { Notice, Trouble } from "../../parts/trouble.tsx";
import { count, counted } from "../../parts/words.ts";
import { hrefOf, usePlace } from "../../route.ts";
import { ActivityFrame, TableFilter } from "./activity-frame.tsx";
import { explain } from "./explain.ts";
import { Dismiss, FailedRows, Retry, retried } from "./failed-rows.tsx";

type Kind = ListFailuresData[number];

/** What Salesforce rejected, by kind: a thousand rows with one reason need one correction. */
export function Failed() {
  const { query } = usePlace();
  const table = query.get("table") ?? undefined;
  const { data, error, refetch } = useAnswer(questions.failures(table), { everySeconds: 15, keepsPrevious: true });
  return (
    <ActivityFrame>
      <div className="head">
        <div className="filters">
          <TableFilter path="/activity/failed" query={query} />
        </div>
        {data && data.data.length > 0 && <RetryAll kinds={data.data} table={table} />}
      </div>
      <Notices table={table} />
      {error && !data && <Trouble error={error} again={() => void refetch()} />}
      {!data && !error && (
        <Card padded={false}>
          <Bones lines={5} />
        </Card>
      )}
      {data?.data.length === 0 && (
        <Card padded={false}>
          <Empty icon={<CircleCheck size={24} aria-hidden />} title="No failed rows">
            When Salesforce refuses one, it appears here with the reason, and can be sent again once that is corrected.
          </Empty>
        </Card>
      )}
      {data?.data.map((kind) => (
        <KindCard key={kind.fingerprint} kind={kind} />
      ))}
      <p className="small muted">
        Every rejection of the last 31 days, also of rows that were accepted later, is in the{" "}
        <a href={hrefOf("/activity", { state: "FAILED", table })}>trigger log</a>.
      </p>
    </ActivityFrame>
  );
}

/** What waits or is slow for reasons of the org, which is not among what failed. */
function Notices({ table }: { readonly table: string | undefined }) {
  const { data } = useAnswer(questions.mappings, { everySeconds: 15, keepsPrevious: true });
  const rows = data?.data.filter(({ pg_table }) => table === undefined || pg_table === table) ?? [];
  return rows.flatMap(({ sf_object, notices }) =>
    notices.map(({ message, remedy }) => (
      <Notice key={message} tone="info" title={`${sf_object}: ${message}`}>
        <p>{remedy}</p>
      </Notice>
    )),
  );
}

function KindCard({ kind }: { readonly kind: Kind }) {
  const [isOpen, setIsOpen] = useState(false);
  const remedy = explain(kind.sample);
  const of = `of ${kind.table_name}`;
  return (
    <Card
      title={
        <>
          {counted(kind.count, `failed ${kind.action.toLowerCase()}`)} of{" "}
          <span className="mono">{kind.table_name}</span>
        </>
      }
      acts={
        <>
          <Button compact aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
            {isOpen ? "Hide rows" : "Show rows"}
          </Button>
          <Retry what={{ fingerprint: kind.fingerprint }} total={kind.count} name={of} />
          <Dismiss what={{ fingerprint: kind.fingerprint }} total={kind.count} name={of} />
        </>
      }
    >
      <div className="stack tight">
        <p className="breaks mono small">{kind.sample}</p>
        {remedy && <p>{remedy}</p>}
        <p className="small muted">
          The last one <Ago at={kind.last_at} />
        </p>
        {isOpen && <FailedRows kind={kind} />}
      </div>
    </Card>
  );
}

function RetryAll({ kinds, table }: { readonly kinds: readonly Kind[]; readonly table: string | undefined }) {
  const [asks, setAsks] = useState(false);
  const { refusal } = useScopes();
  const say = useSay();
  const retry = useAct<RetryRowsData>(() => ({
    method: "POST",
    path: "/monitoring/errors/retry",
    body: table ? { table } : {},
  }));
  const total = kinds.reduce((sum, kind) => sum + kind.count, 0);
  return (
    <>
      <Button refused={refusal("operate")} onClick={() => setAsks(true)}>
        Retry everything
      </Button>
      <Confirm
        open={asks}
        onClose={() => setAsks(false)}
        title={`Send ${counted(total, "row")} again?`}
        act={`Retry ${count(total)}`}
        kind="primary"
        busy={retry.isPending}
        error={retry.error}
        onAct={() =>
          retry.mutate(undefined, {
            onSuccess: ({ data }) => {
              setAsks(false);
              say.done(...retried(data));
            },
          })
        }
      >
        <p>Rows that are not corrected fail again, and your webhooks receive each failure again.</p>
      </Confirm>
    </>
  );
}
