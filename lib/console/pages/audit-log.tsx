import type { ListAuditLogData } from "bridge/api";
import { Download, ScrollText } from "lucide-react";
import { useState } from "react";
import { AUDIT_ACTIONS, didOf } from "../../model/workspace/audit-actions.ts";
import { download } from "../api/ask.ts";
import { questions } from "../api/questions.ts";
import { useCredentials } from "../api/session.tsx";
import { useAnswer } from "../api/use.ts";
import { Button } from "../parts/button.tsx";
import { ListCard } from "../parts/list-card.tsx";
import { Empty, Page } from "../parts/page.tsx";
import { save } from "../parts/save.ts";
import { Ago } from "../parts/time.tsx";
import { useSay } from "../parts/toast.tsx";
import { dayOf, daysBetween, sentence } from "../parts/words.ts";
import { go, hrefOf, usePlace } from "../route.ts";

/** Who did what to which resource. */
export function AuditLog() {
  const { query } = usePlace();
  const at = Object.fromEntries(query);
  const filter = {
    action: at["action"],
    actor: at["actor"],
    ...daysBetween(at["from"], at["to"]),
  };
  const offset = Number(at["offset"] ?? 0);
  const asked = questions.auditLog({ ...filter, offset, limit: 50 });
  const answer = useAnswer(asked, { everySeconds: 15, keepsPrevious: true });
  const isFiltered = Object.values(filter).some(Boolean);
  return (
    <Page title="Audit log" says="Who did what, for 400 days." acts={<AsFile filter={filter} />}>
      <Filters at={at} />
      <ListCard
        answer={answer}
        onGo={(to) => go(hrefOf("/audit-log", { ...at, offset: to ? String(to) : undefined }), "replace")}
        empty={
          <Empty icon={<ScrollText size={24} aria-hidden />} title={isFiltered ? "No such entries" : "No entries yet"}>
            {isFiltered
              ? "Remove a filter to see more."
              : "Every change of settings appears here. Changes of rows are under Activity."}
          </Empty>
        }
        caption="Audit log"
        head={["When", "What"]}
      >
        {(entry) => <Entry key={entry.id} entry={entry} />}
      </ListCard>
    </Page>
  );
}

/** By days, by action and by actor; what is filtered is in the address. */
function Filters({ at }: { readonly at: Readonly<Record<string, string>> }) {
  const [actor, setActor] = useState(at["actor"] ?? "");
  const narrow = (part: Readonly<Record<string, string | undefined>>) =>
    go(hrefOf("/audit-log", { ...at, offset: undefined, ...part }), "replace");
  const days = (from: number, to: number) => ({ from: dayOf(new Date(), from), to: dayOf(new Date(), to) });
  return (
    <form
      className="filters"
      onSubmit={(event) => {
        event.preventDefault();
        narrow({ actor: actor.trim() });
      }}
    >
      {PERIODS.map(([name, from, to]) => (
        <Button
          key={name}
          compact
          aria-pressed={at["from"] === days(from, to).from && at["to"] === days(from, to).to}
          onClick={() => narrow(days(from, to))}
        >
          {name}
        </Button>
      ))}
      {(["from", "to"] as const).map((end) => (
        <input
          key={end}
          className="input compact"
          type="date"
          aria-label={end === "from" ? "First day" : "Last day"}
          value={at[end] ?? ""}
          onChange={({ target }) => narrow({ [end]: target.value })}
        />
      ))}
      <select
        className="input compact"
        aria-label="Action"
        value={at["action"] ?? ""}
        onChange={({ target }) => narrow({ action: target.value })}
      >
        <option value="">Every action</option>
        {Object.keys(AUDIT_ACTIONS).map((action) => (
          <option key={action} value={action}>
            {sentence(didOf(action, "…"))}
          </option>
        ))}
      </select>
      <input
        className="input compact"
        type="search"
        aria-label="Actor, an e-mail address"
        placeholder="Actor's e-mail"
        value={actor}
        onChange={({ target }) => {
          setActor(target.value);
          if (target.value === "") narrow({ actor: undefined });
        }}
      />
      <Button compact type="submit">
        Filter
      </Button>
    </form>
  );
}

/** Days by their distance from today. */
const PERIODS = [
  ["Today", 0, 0],
  ["Yesterday", -1, -1],
  ["7 days", -6, 0],
] as const;

/** `ada@example.com updated the mapping Contact`, with what else is known of it. */
function Entry({ entry: { created_at, actor, action, resource_id, detail } }: { readonly entry: ListAuditLogData }) {
  const { name, sf_object, host, pg_table, ...others } = detail as Readonly<Record<string, unknown>>;
  const [before, after] = didOf(action, "{}").split("{}");
  const table = String(pg_table ?? others["table_name"] ?? "");
  return (
    <tr>
      <td className="once">
        <Ago at={created_at} />
      </td>
      <td className="breaks">
        <strong>{actor}</strong> {before}
        {after !== undefined && (
          <Resource action={action} id={resource_id} name={String(name ?? sf_object ?? host ?? resource_id)} />
        )}
        {after}
        {Object.entries(others).map(([label, value]) =>
          value === null ? null : (
            <span key={label} className="sub">
              {label.replaceAll("_", " ")}: <Detail label={label} value={value} table={table} webhookId={resource_id} />
            </span>
          ),
        )}
      </td>
    </tr>
  );
}

/** Where resources are, by the first part of an action. */
const PLACES: Readonly<Record<string, (id: string) => string>> = {
  mapping: (id) => `/mappings/${id}`,
  rows: (id) => `/mappings/${id}`,
  records: (id) => `/mappings/${id}`,
  conflicts: (id) => `/mappings/${id}`,
  deletes: (id) => `/mappings/${id}`,
  webhook: (id) => `/webhooks/${id}`,
  token: () => "/tokens",
  invitation: () => "/tokens",
};

function Resource({ action, id, name }: { readonly action: string; readonly id: string; readonly name: string }) {
  const place = PLACES[action.split(".")[0] ?? ""];
  if (!place) return name;
  return (
    <a href={hrefOf(place(id))} title={id}>
      {name}
    </a>
  );
}

interface DetailProps {
  readonly label: string;
  readonly value: unknown;
  readonly table: string;
  readonly webhookId: string;
}

/** A value in words; an id leads to what it names. */
function Detail({ label, value, table, webhookId }: DetailProps) {
  const text = textOf(value);
  if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text)) return <Ago at={text} />;
  const href =
    (label === "trigger_log_id" && hrefOf(`/activity/${text}`)) ||
    (label === "delivery_id" && hrefOf(`/webhooks/${webhookId}`, { delivery: text })) ||
    (["record_id", "sfid"].includes(label) && table && hrefOf(`/rows/${table}`, { key: text }));
  return href ? <a href={href}>{text}</a> : text;
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(", ");
  if (typeof value !== "object" || value === null) return String(value ?? "none");
  return Object.entries(value)
    .map(([label, inner]) => `${label.replaceAll("_", " ")} ${textOf(inner)}`)
    .join(", ");
}

function AsFile({ filter }: { readonly filter: Readonly<Record<string, string | undefined>> }) {
  const credentials = useCredentials();
  const say = useSay();
  const [busy, setBusy] = useState(false);
  const fetchFile = async () => {
    setBusy(true);
    try {
      save(await download(credentials, questions.auditLog({ ...filter, format: "csv" })), "audit-log.csv");
    } catch (error) {
      say.failed(error as Error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Button icon={<Download size={15} aria-hidden />} busy={busy} onClick={() => void fetchFile()}>
      CSV
    </Button>
  );
}
