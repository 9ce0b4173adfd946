import type { ListActivityData } from "bridge/api";
import { Activity, Pause, Play } from "lucide-react";
import { useState } from "react";
import { questions } from "../../api/questions.ts";
import { useAnswer } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { ListCard } from "../../parts/list-card.tsx";
import { Empty } from "../../parts/page.tsx";
import { RowState } from "../../parts/row-state.tsx";
import { Ago } from "../../parts/time.tsx";
import { duration } from "../../parts/words.ts";
import { go, hrefOf, usePlace } from "../../route.ts";
import { ActivityFrame, TableFilter } from "./activity-frame.tsx";

const STATES = ["NEW", "PENDING", "SUCCESS", "FAILED"] as const;

/** The trigger log as it grows. */
export function Changes() {
  const { query } = usePlace();
  const [runs, setRuns] = useState(true);
  const filter = { state: query.get("state") ?? undefined, table: query.get("table") ?? undefined };
  const offset = Number(query.get("offset") ?? 0);
  const isLive = runs && offset === 0;
  const answer = useAnswer(questions.activity({ ...filter, offset, limit: 50 }), {
    keepsPrevious: true,
    ...(isLive && { everySeconds: 2 }),
  });
  const turn = (part: Readonly<Record<string, string | undefined>>) =>
    go(hrefOf("/activity", { ...filter, ...part }), "replace");
  return (
    <ActivityFrame>
      <div className="head">
        <div className="filters">
          <select
            className="input compact"
            aria-label="State"
            value={filter.state ?? ""}
            onChange={({ target }) => turn({ state: target.value })}
          >
            <option value="">Every state</option>
            {STATES.map((state) => (
              <option key={state}>{state}</option>
            ))}
          </select>
          <TableFilter path="/activity" query={query} />
        </div>
        <Button
          compact
          kind="plain"
          icon={isLive ? <Pause size={14} aria-hidden /> : <Play size={14} aria-hidden />}
          refused={offset === 0 ? null : "Older pages do not update."}
          onClick={() => setRuns(!runs)}
        >
          {isLive ? "Live" : "Paused"}
        </Button>
      </div>
      <ListCard
        answer={answer}
        onGo={(to) => turn({ offset: to ? String(to) : undefined })}
        empty={<Nothing isFiltered={Boolean(filter.state || filter.table)} />}
        caption="Changes, the latest first"
        head={["Change", "State", ["Record", "wide"], "Captured", ["Took", "wide number"]]}
      >
        {(row) => <Row key={row.id} row={row} />}
      </ListCard>
    </ActivityFrame>
  );
}

function Nothing({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered)
    return (
      <Empty icon={<Activity size={24} aria-hidden />} title="No changes match">
        Remove a filter to see more.
      </Empty>
    );
  return (
    <Empty
      icon={<Activity size={24} aria-hidden />}
      title="No changes yet"
      acts={
        <a className="button" href={hrefOf("/mappings")}>
          To the mappings
        </a>
      }
    >
      Insert or change a row of a mapped table, and it appears here within two seconds; within ten it is in Salesforce.
    </Empty>
  );
}

function Row({ row }: { readonly row: ListActivityData }) {
  return (
    <tr>
      <td>
        <a className="row-link" href={hrefOf(`/activity/${row.id}`)}>
          {row.action.toLowerCase()} <span className="mono">{row.table_name}</span>
        </a>{" "}
        <span className="muted small figure">#{row.id}</span>
      </td>
      <td>
        <RowState state={row.state} />
      </td>
      <td className="wide mono">
        {row.sfid ? (
          <a href={hrefOf(`/rows/${row.table_name}`, { key: row.sfid })}>{row.sfid}</a>
        ) : (
          <span className="muted">–</span>
        )}
      </td>
      <td className="once">
        <Ago at={row.created_at} />
      </td>
      <td className="wide number">
        {row.synced_at ? duration((Date.parse(row.synced_at) - Date.parse(row.created_at)) / 1000) : "–"}
      </td>
    </tr>
  );
}
