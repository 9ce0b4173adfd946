import type { ListAuditLogData } from "bridge/api";
import { Download, ScrollText } from "lucide-react";
import { useState } from "react";
import { download } from "../api/ask.ts";
import { questions } from "../api/questions.ts";
import { useCredentials } from "../api/session.tsx";
import { useAnswer } from "../api/use.ts";
import { Button } from "../parts/button.tsx";
import { ListCard } from "../parts/list-card.tsx";
import { Empty, Page } from "../parts/page.tsx";
import { save } from "../parts/save.ts";
import { Time } from "../parts/time.tsx";
import { useSay } from "../parts/toast.tsx";
import { go, hrefOf, usePlace } from "../route.ts";

const ACTIONS = [
  "mapping.created",
  "mapping.updated",
  "mapping.activated",
  "mapping.deactivated",
  "mapping.deleted",
  "mapping.restored",
  "mapping.reloaded",
  "mapping.sweep_requested",
  "mapping.captured",
  "mapping.poll_triggered",
  "mapping.poll_aborted",
  "rows.retried",
  "rows.dismissed",
  "records.retried",
  "conflicts.overruled",
  "deletes.confirmed",
  "deletes.rejected",
  "config.imported",
  "config.import_lost",
  "config.baseline_saved",
  "token.created",
  "token.revoked",
  "invitation.created",
  "invitation.accepted",
  "webhook.created",
  "webhook.updated",
  "webhook.deleted",
  "webhook.secret_prepared",
  "webhook.secret_promoted",
  "webhook.secret_rotated",
  "webhook.tested",
  "webhook.delivery_retried",
  "webhook.replayed",
  "connection.postgres_changed",
  "connection.salesforce_authorized",
  "workspace.created",
  "workspace.renamed",
] as const;

/** Who did what to which resource. */
export function AuditLog() {
  const { query } = usePlace();
  const filter = { action: query.get("action") ?? undefined, actor: query.get("actor") ?? undefined };
  const offset = Number(query.get("offset") ?? 0);
  const [actor, setActor] = useState(filter.actor ?? "");
  const asked = questions.auditLog({ ...filter, offset, limit: 50 });
  const answer = useAnswer(asked, { everySeconds: 15, keepsPrevious: true });
  const narrow = (part: Readonly<Record<string, string | undefined>>) =>
    go(hrefOf("/audit-log", { ...filter, ...part }), "replace");
  const isFiltered = Boolean(filter.action || filter.actor);
  return (
    <Page title="Audit log" says="Who did what, for 400 days." acts={<AsFile filter={filter} />}>
      <form
        className="filters"
        onSubmit={(event) => {
          event.preventDefault();
          narrow({ actor: actor.trim() || undefined });
        }}
      >
        <select
          className="input compact"
          aria-label="Action"
          value={filter.action ?? ""}
          onChange={({ target }) => narrow({ action: target.value || undefined })}
        >
          <option value="">Every action</option>
          {ACTIONS.map((action) => (
            <option key={action}>{action}</option>
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
      <ListCard
        answer={answer}
        onGo={(to) => narrow({ offset: to ? String(to) : undefined })}
        empty={
          <Empty icon={<ScrollText size={24} aria-hidden />} title={isFiltered ? "No such entries" : "No entries yet"}>
            {isFiltered
              ? "Remove a filter to see more."
              : "Every change of settings appears here. Changes of rows are under Activity."}
          </Empty>
        }
        caption="Audit log"
        head={["When", "Action", ["Actor", "wide"], ["Detail", "wide"]]}
      >
        {(entry) => <Entry key={entry.id} entry={entry} />}
      </ListCard>
    </Page>
  );
}

function Entry({ entry }: { readonly entry: ListAuditLogData }) {
  return (
    <tr>
      <td className="once">
        <Time at={entry.created_at} />
      </td>
      <td>
        <span className="mono">{entry.action}</span>
        <span className="sub mono whole">{entry.resource_id}</span>
      </td>
      <td className="wide whole" title={entry.actor}>
        {entry.actor}
      </td>
      <td className="wide breaks small">
        {Object.entries(entry.detail).map(([name, value]) => (
          <span key={name} className="pair">
            <span className="muted">{name}</span> {typeof value === "string" ? value : JSON.stringify(value)}
          </span>
        ))}
      </td>
    </tr>
  );
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
