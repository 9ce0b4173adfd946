import type { ListMappingStatesData } from "bridge/api";
import type { ReactNode } from "react";
import { questions } from "../../api/questions.ts";
import { useAnswer } from "../../api/use.ts";
import { counted } from "../../parts/words.ts";
import { Equality } from "./equality.tsx";
import { Moved } from "./moved.tsx";
import { movedLately } from "./moved-lately.ts";
import { ObjectTable } from "./objects.tsx";
import { TryIt } from "./try-it.tsx";

interface MovementProps {
  readonly mappings: ListMappingStatesData;
  readonly children: ReactNode;
}

/** How equal both sides are, what moves between them, and then the state of each part. */
export function Movement({ mappings, children }: MovementProps) {
  return (
    <>
      <Equality mappings={mappings} />
      <MovingNow />
      <TryIt mappings={mappings} />
      <Moved />
      {children}
      <ObjectTable mappings={mappings} />
    </>
  );
}

const MINUTES = 5;

/** What has just moved, both ways: a chart of an hour does not show it beside a first load. */
function MovingNow() {
  const { data } = useAnswer(questions.throughput(60), { everySeconds: 5 });
  const moved = data && movedLately(data.data, MINUTES);
  const figures = [
    ["To Salesforce", moved?.accepted],
    ["From Salesforce", moved?.pulled],
    ...(moved?.refused ? [["Rejected by Salesforce", moved.refused] as const] : []),
  ] as const;
  return (
    <dl className="figures">
      {figures.map(([way, rows]) => (
        <div key={way}>
          <dt>{way}</dt>
          <dd className="figure">
            {rows === undefined ? "–" : counted(rows, "row")} <span className="muted small">in {MINUTES} minutes</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}
