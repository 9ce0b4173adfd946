import type { ListRowsData } from "bridge/api";
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { questions } from "../../api/questions.ts";
import { useScopes } from "../../api/scopes.ts";
import { useAnswer } from "../../api/use.ts";
import { Badge, type Tone } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { Check } from "../../parts/field.tsx";
import { ListCard } from "../../parts/list-card.tsx";
import { Empty, Page } from "../../parts/page.tsx";
import { Notice } from "../../parts/trouble.tsx";
import { sentence } from "../../parts/words.ts";
import { go, hrefOf, usePlace } from "../../route.ts";

type Row = ListRowsData["rows"][number];

/** How a row is, in words and as a dot. */
const STATES: Record<Row["state"], readonly [words: string, tone: Tone]> = {
  failed: ["failed", "bad"],
  conflict: ["conflict", "warn"],
  waiting: ["waiting", "busy"],
  no_record: ["no record", "quiet"],
  synced: ["synced", "good"],
};

/** Columns that a page has room for, beside the key and the state. */
const COLUMNS = 4;

/** A mapping's table, row by row. */
export function Rows({ id }: { readonly id: string }) {
  const { query } = usePlace();
  const { may } = useScopes();
  const asked = Object.fromEntries(query);
  const { data: mapping } = useAnswer(questions.mapping(id));
  const answer = useAnswer(questions.rows(id, asked), {
    keepsPrevious: true,
    // Each comparison costs the org a call.
    ...(!asked["sides"] && { everySeconds: 10 }),
  });
  const at = (more: Readonly<Record<string, string | undefined>>) =>
    hrefOf(`/mappings/${id}/rows`, { ...asked, after: undefined, ...more });
  const page = answer.data?.data;
  const table = mapping?.data.pg_table ?? "";
  const shown = page?.rows.some(({ values }) => values !== null)
    ? page.columns.slice(0, COLUMNS).map(({ column }) => column)
    : [];
  return (
    <Page
      title={mapping ? `Rows of ${mapping.data.sf_object}` : "Rows"}
      says={
        table && (
          <>
            Table <code>{table}</code> of <a href={hrefOf(`/mappings/${id}`)}>its mapping</a>. Keys: / to search, arrows
            and Enter for a row.
          </>
        )
      }
    >
      <Filters
        columns={page?.columns.map(({ column }) => column) ?? []}
        asked={asked}
        at={at}
        maySearch={may("operate")}
      />
      {page?.salesforce_error && (
        <Notice tone="warn" title="Salesforce could not be asked">
          {sentence(page.salesforce_error)}
        </Notice>
      )}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the arrows go from link to link, which take the focus themselves */}
      <div onKeyDown={walk}>
        <ListCard
          answer={{ ...answer, data: page && { data: page.rows, meta: null } }}
          lines={8}
          empty={
            <Empty title="No rows">
              {asked["find"] || asked["state"] ? "No row of the table is like this." : "The table has none yet."}
            </Empty>
          }
          caption={`Rows of ${table}`}
          head={[
            "State",
            "Key",
            ...shown.map((column, at): readonly [string, string] => [column, at < 1 ? "" : "wide"]),
          ]}
          foot={
            page &&
            (asked["after"] || page.next) && (
              <div className="acts">
                {asked["after"] && <Button onClick={() => go(at({}))}>First page</Button>}
                {page.next && <Button onClick={() => go(at({ after: page.next ?? undefined }))}>Next page</Button>}
              </div>
            )
          }
        >
          {(row) => <RowLine key={row.record_id} row={row} table={table} shown={shown} />}
        </ListCard>
      </div>
    </Page>
  );
}

interface FiltersProps {
  readonly columns: readonly string[];
  readonly asked: Readonly<Record<string, string>>;
  readonly at: (more: Readonly<Record<string, string | undefined>>) => string;
  readonly maySearch: boolean;
}

function Filters({ columns, asked, at, maySearch }: FiltersProps) {
  const [text, setText] = useState(asked["find"] ?? "");
  const search = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLElement && event.target.matches("input, select, textarea");
      if (event.key !== "/" || isTyping) return;
      event.preventDefault();
      search.current?.focus();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  return (
    <form
      className="filters"
      onSubmit={(event) => {
        event.preventDefault();
        go(at({ find: text }));
      }}
    >
      <select
        className="input compact"
        aria-label="State"
        value={asked["state"] ?? (asked["sort"] === "state" ? "sorted" : "")}
        onChange={({ target: { value } }) =>
          go(at(value === "sorted" ? { state: undefined, sort: "state" } : { state: value, sort: undefined }))
        }
      >
        <option value="">Every state</option>
        <option value="sorted">Failed rows first</option>
        {Object.entries(STATES).map(([state, [words]]) => (
          <option key={state} value={state}>
            Only {words}
          </option>
        ))}
      </select>
      {maySearch && (
        <>
          <input
            ref={search}
            className="input compact"
            type="search"
            aria-label="Search the rows"
            placeholder="Search, then Enter"
            value={text}
            onChange={({ target }) => {
              setText(target.value);
              if (target.value === "") go(at({ find: undefined }), "replace");
            }}
          />
          <select
            className="input compact"
            aria-label="Column that is searched"
            value={asked["column"] ?? ""}
            onChange={({ target }) => go(at({ column: target.value, find: text }))}
          >
            <option value="">Every column</option>
            {columns.map((column) => (
              <option key={column}>{column}</option>
            ))}
          </select>
          <Check
            label="Compare with Salesforce"
            checked={asked["sides"] === "true"}
            onChange={({ target }) => go(at({ sides: target.checked ? "true" : undefined, after: asked["after"] }))}
          />
        </>
      )}
    </form>
  );
}

interface RowLineProps {
  readonly row: Row;
  readonly table: string;
  readonly shown: readonly string[];
}

function RowLine({ row: { record_id, state, values, salesforce }, table, shown }: RowLineProps) {
  const [words, tone] = STATES[state];
  return (
    <tr>
      <td className="once">
        <Badge tone={tone}>{words}</Badge>
      </td>
      <td className="mono">
        <a className="row-link" href={hrefOf(`/rows/${table}`, { key: String(record_id) })}>
          {record_id}
        </a>
      </td>
      {shown.map((column, at) => (
        <td key={column} className={at < 1 ? "breaks" : "breaks wide"}>
          <Value value={values?.[column] ?? null} />
          {salesforce?.[column] !== undefined && <Theirs>{salesforce[column]}</Theirs>}
          {at === 0 &&
            Object.entries(salesforce ?? {})
              .filter(([other]) => !shown.includes(other))
              .map(([other, value]) => (
                <Theirs key={other} column={other}>
                  {value}
                </Theirs>
              ))}
        </td>
      ))}
    </tr>
  );
}

/** What the record holds otherwise. */
function Theirs({ column, children }: { readonly column?: string; readonly children: ReactNode }) {
  return (
    <span className="sub">
      {column && <span className="mono">{column} </span>}in Salesforce: {children ?? "nothing"}
    </span>
  );
}

function Value({ value }: { readonly value: string | null }) {
  if (value === null) return <span className="muted mono">NULL</span>;
  return value.length > 80 ? `${value.slice(0, 80)}…` : value;
}

/** The arrows go to the row above or below. */
function walk(event: KeyboardEvent<HTMLElement>): void {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (step === 0) return;
  const links = [...event.currentTarget.querySelectorAll<HTMLAnchorElement>("a.row-link")];
  const at = links.indexOf(document.activeElement as HTMLAnchorElement);
  event.preventDefault();
  links[Math.max(0, Math.min(links.length - 1, at + step))]?.focus();
}
