import type uPlot from "uplot";
import { clock, count } from "../words.ts";

/** One line or bar of a chart. */
export interface Series {
  readonly name: string;
  /** A token: `--series-1`. */
  readonly colour: string;
  /** Negative ones hang below the line, and count as many. */
  readonly values: readonly number[];
}

/** What a chart shows where it is pointed at: the time of the step and each of its figures. */
export function tip(times: readonly number[], series: readonly Series[], unit: string): uPlot.Plugin {
  const box = document.createElement("div");
  box.className = "chart-tip";
  box.hidden = true;
  const step = (times[1] ?? 0) - (times[0] ?? 0);
  return {
    hooks: {
      init: (plot) => plot.over.append(box),
      setCursor: (plot) => {
        const left = plot.cursor.left ?? -1;
        const at = left < 0 ? -1 : Math.floor((plot.posToVal(left, "x") - (times[0] ?? 0)) / step);
        const time = times[at];
        box.hidden = time === undefined;
        if (time === undefined) return;
        const lines = series
          .toReversed()
          .map(({ name, values }) => `${count(Math.abs(values[at] ?? 0))} ${unit} ${name}`);
        box.textContent = [clock(new Date(time * 1000)), ...lines].join("\n");
        // On the side of the pointer where there is room for it.
        const isRight = left > plot.over.clientWidth / 2;
        box.style.left = isRight ? "" : `${left + 12}px`;
        box.style.right = isRight ? `${plot.over.clientWidth - left + 12}px` : "";
      },
    },
  };
}
