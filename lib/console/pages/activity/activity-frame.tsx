import type { ReactNode } from "react";
import { questions } from "../../api/questions.ts";
import { useAnswer } from "../../api/use.ts";
import { Page } from "../../parts/page.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { count } from "../../parts/words.ts";
import { go, hrefOf, usePlace } from "../../route.ts";

/** What the four lists of activity have in common. */
export function ActivityFrame({ children }: { readonly children: ReactNode }) {
  const { path } = usePlace();
  const { data } = useAnswer(questions.mappings, { everySeconds: 10 });
  const failed = data?.data.reduce((sum, mapping) => sum + (mapping.failed ?? 0), 0) ?? 0;
  const inbound = data?.data.reduce((sum, mapping) => sum + (mapping.inbound_errors ?? 0), 0) ?? 0;
  return (
    <Page title="Activity" says="Changes of your rows, and their results in Salesforce.">
      <Tabs
        label="Activity"
        at={path}
        tabs={[
          { path: "/activity", name: "Changes" },
          { path: "/activity/failed", name: <Counted name="Failed" figure={failed} /> },
          { path: "/activity/inbound", name: <Counted name="Not written here" figure={inbound} /> },
          { path: "/activity/conflicts", name: "Conflicts" },
        ]}
      />
      {children}
    </Page>
  );
}

function Counted({ name, figure }: { readonly name: string; readonly figure: number }) {
  return (
    <>
      {name}
      {figure > 0 && <span className="badge bare bad figure">{count(figure)}</span>}
    </>
  );
}

/** Narrows a list to one table. */
export function TableFilter({ path, query }: { readonly path: string; readonly query: URLSearchParams }) {
  const { data } = useAnswer(questions.mappings);
  const table = query.get("table") ?? "";
  const names = [...new Set([...(data?.data.map(({ pg_table }) => pg_table) ?? []), ...(table ? [table] : [])])];
  return (
    <select
      className="input compact"
      aria-label="Table"
      value={table}
      onChange={({ target }) =>
        go(hrefOf(path, { ...Object.fromEntries(query), table: target.value, offset: undefined }), "replace")
      }
    >
      <option value="">Every table</option>
      {names.toSorted().map((name) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  );
}
