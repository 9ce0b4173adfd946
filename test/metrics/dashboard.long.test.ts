import { expect, onTestFinished, test, vi } from "vitest";
import { RunningInstance } from "../support/processes/instance.ts";
import { hasPrometheus, readPanels, startPrometheus } from "../support/processes/prometheus.ts";

test.skipIf(!hasPrometheus())(
  "every query of the dashboard finds something in what a running instance is scraped for",
  async () => {
    const bridge = new RunningInstance({ live: true });
    onTestFinished(() => bridge.destroy());
    const { base_url } = await bridge.start();
    await bridge.api("POST", "/webhooks", { url: "http://127.0.0.1:9/", events: ["record.failed"] });
    await bridge.api("PUT", "/pause", { paused: true, reason: "to see it shown" });
    await bridge.api("PUT", "/pause", { paused: false });
    await using prometheus = await startPrometheus(base_url, 5);

    const queries = readPanels().flatMap(({ title, targets }) => targets.map(({ expr }) => `${title}: ${expr}`));
    await vi.waitFor(
      async () => {
        const found = await Promise.all(queries.map((query) => prometheus.query(query.slice(query.indexOf(": ") + 2))));
        expect(queries.filter((_, at) => found[at]?.length === 0)).toEqual([]);
      },
      { timeout: 240_000, interval: 2000 },
    );

    expect(queries.length).toBeGreaterThan(20);
  },
);
