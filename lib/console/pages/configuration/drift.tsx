import type { ReadDriftData, SaveBaselineData } from "bridge/api";
import { Pin } from "lucide-react";
import { Refused } from "../../api/ask.ts";
import { questions } from "../../api/questions.ts";
import { useAct, useAnswer } from "../../api/use.ts";
import { ActButton } from "../../parts/acts/act-button.tsx";
import { Bones, Card, Empty } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";
import { Notice, Trouble } from "../../parts/trouble.tsx";
import { counted } from "../../parts/words.ts";
import { hrefOf } from "../../route.ts";
import { ConfigurationFrame } from "./configuration-frame.tsx";

/** The pinned configuration, and what differs from it now. */
export function Drift() {
  const { data, error, refetch } = useAnswer(questions.drift, { everySeconds: 15 });
  const hasNone = error instanceof Refused && error.code === "BASELINE_NOT_FOUND";
  return (
    <ConfigurationFrame acts={data && <SaveBaseline again />}>
      {hasNone && (
        <Card padded={false}>
          <Empty icon={<Pin size={24} aria-hidden />} title="No baseline is pinned yet" acts={<SaveBaseline />}>
            Pin the configuration when it is right. From then on this page lists every difference from it.
          </Empty>
        </Card>
      )}
      {error && !hasNone && !data && <Trouble error={error} again={() => void refetch()} />}
      {!data && !error && (
        <Card padded={false}>
          <Bones lines={4} />
        </Card>
      )}
      {data && !hasNone && <Report drift={data.data} />}
    </ConfigurationFrame>
  );
}

function SaveBaseline({ again }: { readonly again?: boolean }) {
  const pin = useAct<SaveBaselineData>(() => ({ method: "POST", path: "/config/baseline" }));
  return (
    <ActButton
      act={pin}
      scope="operate"
      done={() => ["The configuration is pinned"]}
      kind={again ? undefined : "primary"}
      icon={<Pin size={15} aria-hidden />}
    >
      {again ? "Pin it as it is now" : "Pin the configuration"}
    </ActButton>
  );
}

type Change = ReadDriftData["changes"][number];

const WORDS: Record<Change["type"], readonly [sign: string, kind: string, words: string]> = {
  mapping_added: ["+", "added", "the mapping was created"],
  mapping_removed: ["−", "removed", "the mapping was deleted"],
  field_added: ["+", "added", ""],
  field_removed: ["−", "removed", ""],
  setting_changed: ["~", "changed", ""],
};

function Report({ drift }: { readonly drift: ReadDriftData }) {
  const changes: readonly Change[] = drift.changes;
  const since = (
    <>
      the baseline of <Time at={drift.captured_at} />
    </>
  );
  if (!drift.drifted)
    return (
      <Notice tone="good" title="No differences from the pinned configuration">
        It equals {since}.
      </Notice>
    );
  const byObject = [...Map.groupBy(changes, ({ mapping_id, sf_object }) => `${mapping_id} ${sf_object}`)];
  return (
    <Card title={counted(changes.length, "difference")} foot={<span>Compared with {since}</span>}>
      <ul className="diff" aria-label="Differences">
        {byObject.map(([key, found]) => (
          <li key={key}>
            <div className="head-line">
              <strong>{found[0]?.sf_object}</strong>
              <a className="small" href={hrefOf(`/mappings/${found[0]?.mapping_id}`)}>
                Look at the mapping
              </a>
            </div>
            <div className="lines mono">
              {found.map(({ type, field }) => {
                const [sign, kind, words] = WORDS[type];
                return (
                  <span key={`${type} ${field}`} className={kind}>
                    {sign} {field || words}
                  </span>
                );
              })}
            </div>
          </li>
        ))}
      </ul>
    </Card>
  );
}
