import type { ReadFleetData } from "bridge/api";
import { Boxes } from "lucide-react";
import { questions } from "../../api/questions.ts";
import { useAnswer } from "../../api/use.ts";
import { Badge, type Tone } from "../../parts/badge.tsx";
import { ListCard } from "../../parts/list-card.tsx";
import { Empty, Page } from "../../parts/page.tsx";
import { Ago } from "../../parts/time.tsx";
import { count, counted } from "../../parts/words.ts";
import { PauseButton } from "./pause.tsx";

type Workspace = ReadFleetData[number];
type State = "running" | "paused" | "broken" | "not connected";

const TONES: Record<State, Tone> = { running: "good", paused: "quiet", broken: "bad", "not connected": "quiet" };

/** The worst come first. */
const ORDER: readonly State[] = ["broken", "paused", "running", "not connected"];

/** Every workspace of the deployment, for its operators: figures are those that cycles have kept last. */
export function Fleet() {
  const answer = useAnswer(questions.fleet, { everySeconds: 15 });
  const states = answer.data?.data.map(stateOf) ?? [];
  return (
    <Page
      title="Fleet"
      says="Every workspace of this deployment, with the latest figures of its cycles."
      acts={<PauseButton what="the whole deployment" />}
    >
      {states.length > 0 && <p className="muted">{summary(states)}</p>}
      <ListCard
        answer={answer}
        order={(one, other) => ORDER.indexOf(stateOf(one)) - ORDER.indexOf(stateOf(other))}
        empty={
          <Empty icon={<Boxes size={24} aria-hidden />} title="No workspace yet">
            Create one with <code>bridge workspace create NAME --owner you@example.com</code>.
          </Empty>
        }
        caption="Workspaces"
        head={[
          "Workspace",
          "State",
          ["Waiting", "number"],
          ["Oldest", "wide"],
          ["Refused", "wide number"],
          ["Calls in 24 h", "wide number"],
        ]}
      >
        {(workspace) => <Row key={workspace.id} workspace={workspace} />}
      </ListCard>
    </Page>
  );
}

function stateOf({ connected, pause, broken }: Workspace): State {
  if (pause !== null) return "paused";
  if (!connected) return "not connected";
  return broken.length > 0 ? "broken" : "running";
}

const summary = (states: readonly State[]): string =>
  ORDER.flatMap((state) => {
    const many = states.filter((one) => one === state).length;
    return many > 0 ? `${count(many)} ${state}` : [];
  }).join(", ");

function Row({ workspace }: { readonly workspace: Workspace }) {
  const state = stateOf(workspace);
  const { id, name, waiting, oldest_waiting_at, counted_at, rows_refused, calls_used, calls_limit, calls_at } =
    workspace;
  return (
    <tr>
      <td>
        <span className="breaks">{name}</span>
        <span className="sub mono breaks">{id}</span>
      </td>
      <td>
        <Badge tone={TONES[state]}>{state}</Badge>
        <Why workspace={workspace} />
      </td>
      <td className="number">
        {waiting === null ? "–" : count(waiting)}
        <span className="sub">
          <Ago at={counted_at} none="not counted" />
        </span>
      </td>
      <td className="wide once">
        <Ago at={oldest_waiting_at} none="–" />
      </td>
      <td className="wide number">{count(rows_refused)}</td>
      <td className="wide number">
        {calls_used === null || calls_limit === null ? "–" : `${count(calls_used)} of ${count(calls_limit)}`}
        {calls_at && (
          <span className="sub">
            <Ago at={calls_at} />
          </span>
        )}
      </td>
    </tr>
  );
}

function Why({ workspace: { pause, broken } }: { readonly workspace: Workspace }) {
  const [first] = broken;
  if (pause)
    return (
      <span className="sub breaks">
        {pause.scope === "deployment" ? "with all others, " : ""}by {pause.by}, <Ago at={pause.since} />
        {pause.reason && `: ${pause.reason}`}
      </span>
    );
  if (!first) return null;
  return (
    <span className="sub breaks">
      {broken.length > 1 && `${counted(broken.length, "mapping")}, for example: `}
      {first.reason} <Ago at={first.since} none="" />
    </span>
  );
}
