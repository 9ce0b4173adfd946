import { useState } from "react";
import { Code } from "../../parts/code.tsx";
import { Check } from "../../parts/field.tsx";
import { EVENTS, type EventType, sampleOf } from "./events.ts";

interface Props {
  readonly chosen: readonly EventType[];
  readonly onChange: (chosen: readonly EventType[]) => void;
}

/** The events to send, with a sample of each. */
export function EventChoice({ chosen, onChange }: Props) {
  const [shown, setShown] = useState<EventType>(chosen[0] ?? "record.failed");
  return (
    <div className="halves">
      <fieldset className="field events">
        <legend>Events</legend>
        {EVENTS.map(({ type, says }) => (
          <Check
            key={type}
            label={<span className="mono">{type}</span>}
            hint={says}
            checked={chosen.includes(type)}
            onFocus={() => setShown(type)}
            onChange={({ target }) => {
              setShown(type);
              onChange(target.checked ? [...chosen, type] : chosen.filter((other) => other !== type));
            }}
          />
        ))}
      </fieldset>
      <figure className="stack tight">
        <figcaption className="small muted">
          What arrives for <span className="mono">{shown}</span>
        </figcaption>
        <Code text={sampleOf(shown)} label={`What arrives for ${shown}`} />
      </figure>
    </div>
  );
}
