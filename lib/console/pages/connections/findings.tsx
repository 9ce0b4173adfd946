import type { TestPostgresData } from "bridge/api";
import { CircleCheck, CircleX } from "lucide-react";

/** The findings of a connection's check, with the remedy where something is wrong. */
export function Findings({ report }: { readonly report: TestPostgresData }) {
  return (
    <ul className="findings" aria-label="Findings">
      {report.findings.map(({ check, ok, message, remedy }) => (
        <li key={check} className={ok ? "good" : "bad"}>
          {ok ? <CircleCheck size={16} aria-label="in order" /> : <CircleX size={16} aria-label="not in order" />}
          <div>
            <div>{message}</div>
            {remedy && <div className="small muted">{remedy}</div>}
          </div>
        </li>
      ))}
    </ul>
  );
}
