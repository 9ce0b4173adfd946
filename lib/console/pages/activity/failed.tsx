import type { ListFailuresData, RetryRowsBody, RetryRowsData } from "bridge/api";
import { CircleCheck, RotateCw } from "lucide-react";
import { useState } from "react";
import { questions } from "../../api/questions.ts";
import { useScopes } from "../../api/scopes.ts";
import { useAct, useAnswer } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { List } from "../../parts/list.tsx";
import { Bones, Card, Empty } from "../../parts/page.tsx";
import { Pager } from "../../parts/pager.tsx";
import { Ago, Time } from "../../parts/time.tsx";
import { useSay } from "../../parts/toast.tsx";
import { Notice, Trouble } from "../../parts/trouble.tsx";
import { count, counted } from "../../parts/words.ts";
import { go, hrefOf, usePlace } from "../../route.ts";
import { ActivityFrame, TableFilter } from "./activity-frame.tsx";
import { explain } from "./explain.ts";

type Kind = ListFailuresData[number];

/** What Salesforce refused, by kind: a thousand rows with one reason are one thing to mend. */
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
          <Empty icon={<CircleCheck size={24} aria-hidden />} title="No row has failed">
            When Salesforce refuses one, it appears here with the reason, and can be sent again once that is mended.
          </Empty>
        </Card>
      )}
      {data?.data.map((kind) => (
        <KindCard key={kind.fingerprint} kind={kind} />
      ))}
      {data && data.data.length > 0 && <EachRow table={table} />}
    </ActivityFrame>
  );
}

/** What waits or goes slowly for reasons of the org, which nobody finds among what failed. */
function Notices({ table }: { readonly table: string | undefined }) {
  const { data } = useAnswer(questions.mappings, { everySeconds: 15, keepsPrevious: true });
  const told = data?.data.filter(({ pg_table }) => table === undefined || pg_table === table) ?? [];
  return told.flatMap(({ sf_object, notices }) =>
    notices.map(({ message, remedy }) => (
      <Notice key={message} tone="info" title={`${sf_object}: ${message}`}>
        <p>{remedy}</p>
      </Notice>
    )),
  );
}

function KindCard({ kind }: { readonly kind: Kind }) {
  const remedy = explain(kind.sample);
  return (
    <Card
      title={
        <>
          {counted(kind.count, `failed ${kind.action.toLowerCase()}`)} of{" "}
          <span className="mono">{kind.table_name}</span>
        </>
      }
      acts={<Retry what={{ fingerprint: kind.fingerprint }} total={kind.count} name={`of ${kind.table_name}`} />}
    >
      <div className="stack tight">
        <p className="breaks mono small">{kind.sample}</p>
        {remedy && <p>{remedy}</p>}
        <p className="small muted">
          The last one <Ago at={kind.last_at} />
        </p>
      </div>
    </Card>
  );
}

function Retry({ what, total, name }: { readonly what: RetryRowsBody; readonly total: number; readonly name: string }) {
  const { refusal } = useScopes();
  const say = useSay();
  const words = total === 1 ? "Retry it" : `Retry all ${count(total)}`;
  const retry = useAct<RetryRowsData>(() => ({ method: "POST", path: "/monitoring/errors/retry", body: what }));
  return (
    <Button
      compact
      icon={<RotateCw size={14} aria-hidden />}
      busy={retry.isPending}
      refused={refusal("operate")}
      aria-label={`${words} ${name}`}
      onClick={() =>
        retry.mutate(undefined, { onSuccess: ({ data }) => say.done(...retried(data)), onError: say.failed })
      }
    >
      {words}
    </Button>
  );
}

/** What became of a retry, as a title and a sentence. */
export function retried({ retried: rows, remaining }: RetryRowsData): [title: string, says: string] {
  if (rows === 0)
    return ["Nothing was left to retry", "A newer state of each row has overruled it, or it waits already."];
  const more = remaining > 0 ? ` ${counted(remaining, "more")} can be retried after these.` : "";
  return [
    `${counted(rows, "row")} wait${rows === 1 ? "s" : ""} again`,
    `The next cycle sends them, within ten seconds.${more}`,
  ];
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
        <p>What is not mended fails again, and each failure is told to your webhooks once more.</p>
      </Confirm>
    </>
  );
}

function EachRow({ table }: { readonly table: string | undefined }) {
  const { query } = usePlace();
  const offset = Number(query.get("offset") ?? 0);
  const { data } = useAnswer(questions.errors({ table, offset, limit: 20 }), { everySeconds: 5, keepsPrevious: true });
  if (!data || data.data.length === 0) return null;
  return (
    <Card
      title="Row by row"
      padded={false}
      foot={
        <Pager
          meta={data.meta}
          onGo={(to) => go(hrefOf("/activity/failed", { table, offset: to ? String(to) : undefined }), "replace")}
        />
      }
    >
      <List
        caption="Failed rows, the latest first"
        head={
          <>
            <th>Change</th>
            <th>What Salesforce said</th>
            <th className="wide">Captured</th>
          </>
        }
      >
        {data.data.map((row) => (
          <tr key={row.id}>
            <td>
              <a className="row-link" href={hrefOf(`/activity/${row.id}`)}>
                {row.action.toLowerCase()} <span className="mono">{row.table_name}</span>
              </a>
              <span className="sub figure">#{row.id}</span>
            </td>
            <td className="breaks mono small">{row._ab_err}</td>
            <td className="wide once">
              <Time at={row.created_at} />
            </td>
          </tr>
        ))}
      </List>
    </Card>
  );
}
