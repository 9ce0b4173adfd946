import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { count } from "../words.ts";
import { type Series, tip } from "./chart-tip.ts";

interface ChartProps {
  /** What it shows, for who cannot see it. */
  readonly label: string;
  /** Epoch seconds. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  /** What is counted: `rows`. */
  readonly unit: string;
}

const HEIGHT = 180;

/** Counts over time as bars, one series on the other; those of the other direction hang below. */
export default function Chart({ label, times, series, unit }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const plot = new uPlot(
      optionsOf(element, series, (times[1] ?? 0) - (times[0] ?? 0), tip(times, series, unit)),
      stacked(times, series),
      element,
    );
    const watcher = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    watcher.observe(element);
    return () => {
      watcher.disconnect();
      plot.destroy();
    };
  }, [times, series, unit]);
  return <div ref={box} className="chart" role="img" aria-label={label} />;
}

/** The last series is drawn first and is stacked on all before it of its direction. */
function stacked(times: readonly number[], series: readonly Series[]): uPlot.AlignedData {
  const sums = series.map(({ values: own }, index) =>
    times.map((_, at) => {
      const hangs = (own[at] ?? 0) < 0;
      const below = series.slice(0, index).map(({ values }) => values[at] ?? 0);
      return below.filter((value) => value < 0 === hangs).reduce((sum, value) => sum + value, own[at] ?? 0);
    }),
  );
  return [[...times], ...sums.toReversed()];
}

function optionsOf(
  element: HTMLElement,
  series: readonly Series[],
  stepSeconds: number,
  pointed: uPlot.Plugin,
): uPlot.Options {
  const colour = (token: string) => colourOf(element, token);
  const line = colour("--line");
  const words = colour("--muted");
  const font = `11px ${getComputedStyle(element).fontFamily}`;
  const bars = uPlot.paths.bars?.({ size: [0.8, 14], align: 1 });
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    plugins: [pointed],
    padding: [8, 4, 0, 0],
    // A bar begins at its time, so the last one needs a step of room.
    scales: {
      x: { range: (_, from, to) => [from, to + stepSeconds] },
      y: { range: (_, least, most) => [Math.min(0, least * 1.1), Math.max(4, most * 1.1)] },
    },
    axes: [
      { stroke: words, font, grid: { show: false }, ticks: { stroke: line, size: 4 }, gap: 4, size: 30, values: hours },
      {
        stroke: words,
        font,
        grid: { stroke: line, width: 1 },
        ticks: { show: false },
        gap: 6,
        size: 44,
        incrs: WHOLE,
        values: figures,
      },
    ],
    series: [
      {},
      ...series.toReversed().map(({ name, colour: token }) => ({
        label: name,
        fill: colour(token),
        stroke: colour(token),
        width: 0,
        points: { show: false },
        ...(bars && { paths: bars }),
      })),
    ],
  };
}

const WHOLE = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 50_000, 100_000];

const figures = (_: uPlot, splits: number[]): string[] => splits.map((figure) => count(Math.abs(figure)));

const hours = (_: uPlot, splits: number[]): string[] =>
  splits.map((at) => {
    const date = new Date(at * 1000);
    const isMidnight = date.getHours() === 0 && date.getMinutes() === 0;
    if (isMidnight) return date.toLocaleDateString(undefined, { day: "numeric", month: "short" });
    return date.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
  });

/** A canvas knows no custom properties: the colour as the page resolves it. */
function colourOf(element: HTMLElement, token: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${token})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
