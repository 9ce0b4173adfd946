import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { startBrowser } from "../support/clients/browser.ts";
import { RunningInstance } from "../support/processes/instance.ts";
import { type Panel, type Prometheus, readPanels, startPrometheus } from "../support/processes/prometheus.ts";

/**
 * The panels of lib/infra/grafana.json as a picture, of what a Prometheus scraped from the demo of `npm start`:
 * `npm run pictures:dashboard [-- MINUTES [FOLDER]]`, twelve minutes and lib/docs/pictures unless given. It draws
 * them itself, so that it needs Prometheus and Chromium alone.
 */
const [minutes = "12", folder = "lib/docs/pictures"] = process.argv.slice(2);
const WIDTH = 620;
const HEIGHT = 170;
const STEP_SECONDS = 10;
const COLORS = ["#3d71d9", "#e02f44", "#56a64b", "#f2cc0c", "#8f3bb8", "#ff780a"];

interface Range {
  readonly start: number;
  readonly end: number;
}

const bridge = new RunningInstance({ live: true });
const [{ base_url }, browser] = await Promise.all([bridge.start(), startBrowser()]);
try {
  await bridge.api("POST", "/webhooks", { url: "http://127.0.0.1:9/", events: ["record.failed"] });
  await using prometheus = await startPrometheus(base_url, 5);
  await pause(Number(minutes) * 60_000);
  const end = Math.floor(Date.now() / 1000);
  const range = { start: end - Number(minutes) * 60, end };
  const drawn = await Promise.all(readPanels().map((panel) => drawPanel(prometheus, panel, range)));
  const page = await (await browser.newContext({ viewport: { width: 2 * WIDTH + 60, height: 800 } })).newPage();
  await page.setContent(`<style>
    body { margin: 16px; background: #f4f5f5; font: 12px "DejaVu Sans", sans-serif; color: #24292e }
    main { display: grid; grid-template-columns: 1fr 1fr; gap: 12px }
    section { background: white; border: 1px solid #ddd; padding: 10px }
    h2 { font-size: 13px; margin: 0 0 6px } p { margin: 4px 0 0; line-height: 1.6 } b { font-weight: normal }
  </style><main>${drawn.join("")}</main>`);
  const devtools = await page.context().newCDPSession(page);
  const { width, height } = (await page.locator("main").boundingBox()) ?? { width: 0, height: 0 };
  const clip = { x: 0, y: 0, width: width + 32, height: height + 32, scale: 1 };
  const asked = { format: "webp", quality: 80, clip, captureBeyondViewport: true } as const;
  const { data } = await devtools.send("Page.captureScreenshot", asked);
  writeFileSync(join(resolve(folder), "dashboard.webp"), Buffer.from(data, "base64"));
} finally {
  await browser.close();
  await bridge.destroy();
}

async function drawPanel(prometheus: Prometheus, { title, targets }: Panel, range: Range): Promise<string> {
  const found = await Promise.all(
    targets.map(async ({ expr, legendFormat }) =>
      (await prometheus.query(expr, { ...range, step: STEP_SECONDS })).map(({ metric, values = [] }) => ({
        name: legendFormat.replace(/\{\{(\w+)\}\}/g, (_, label) => metric[label] ?? ""),
        values: values.map(([at, value]) => [at, Number(value)] as const).filter(([, value]) => Number.isFinite(value)),
      })),
    ),
  );
  const lines = found.flat();
  const most = Math.max(1, ...lines.flatMap(({ values }) => values.map(([, value]) => value))) * 1.1;
  const x = (at: number) => 50 + ((at - range.start) / (range.end - range.start)) * (WIDTH - 60);
  const y = (value: number) => HEIGHT - 20 - (value / most) * (HEIGHT - 30);
  const paths = lines.map(({ values }, at) => {
    const points = values.map(([time, value]) => `${x(time).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
    return `<polyline fill="none" stroke="${COLORS[at % COLORS.length]}" stroke-width="1.5" points="${points}"/>`;
  });
  const ticks = [0, 0.5, 1].map((share) => {
    const value = (share * most) / 1.1;
    const text = value >= 1000 ? `${Math.round(value / 100) / 10} K` : String(Math.round(value * 100) / 100);
    return `<text x="44" y="${y(value) + 4}" text-anchor="end" fill="#666" font-size="11">${text}</text>
      <line x1="50" x2="${WIDTH - 10}" y1="${y(value)}" y2="${y(value)}" stroke="#eee"/>`;
  });
  const times = [range.start, (range.start + range.end) / 2, range.end].map((at, place) => {
    const anchor = ["start", "middle", "end"][place];
    return `<text x="${x(at)}" y="${HEIGHT - 4}" text-anchor="${anchor}" fill="#666" font-size="11">${new Date(at * 1000).toISOString().slice(11, 16)}</text>`;
  });
  const legend = lines
    .map(({ name }, at) => `<b style="color:${COLORS[at % COLORS.length]}">●</b> ${name}`)
    .join(" &nbsp; ");
  return `<section><h2>${title}</h2><svg width="${WIDTH}" height="${HEIGHT}">${ticks.join("")}${times.join("")}${paths.join("")}</svg><p>${legend}</p></section>`;
}
