import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { startBrowser } from "../support/clients/browser.ts";
import { startReceiver } from "../support/doubles/receiver.ts";
import { RunningInstance } from "../support/processes/instance.ts";
import { fillWorkspace } from "./places.ts";

/**
 * Pictures of every page, broad and narrow, light and dark, of an instance as `npm start` has it:
 * `npm run screenshots [-- FOLDER]`, dist/screenshots unless given. They are for looking at; nothing is compared.
 */
const SIZES = { desktop: { width: 1280, height: 800 }, phone: { width: 360, height: 740 } } as const;

const folder = resolve(process.argv[2] ?? "dist/screenshots");
mkdirSync(folder, { recursive: true });
const instance = new RunningInstance();
const [file, browser, receiver] = await Promise.all([instance.start(), startBrowser(), startReceiver(200)]);
try {
  const places = await fillWorkspace({
    ask: async <Data>(method: string, path: string, body?: unknown) => {
      const { status, body: answer } = await instance.api(method, path, body);
      if (!answer.success) throw new Error(`${method} ${path} answered ${status}: ${answer.error?.message}`);
      return answer.data as Data;
    },
    sql: (text) => instance.sql(text),
    schema: "salesforce",
    receiverUrl: receiver.url,
  });
  // The first minute of an instance shows nothing over time, so what it did is spread over an hour, and cycles are given to it.
  await instance.sql(`UPDATE salesforce._trigger_log SET
    created_at = created_at - make_interval(mins => (id * 7 % 53)::int, secs => 4 + id % 5),
    processed_at = processed_at - make_interval(mins => (id * 7 % 53)::int) WHERE processed_at IS NOT NULL`);
  await instance.sql(`INSERT INTO salesforce._bridge_cycles
    SELECT mapping_id, minute % 1440, minute, 6 - failed, failed, 0, minute * 7 % 11 * (minute % 3), 0, 0
    FROM salesforce._bridge_state, generate_series(1, 50) ago,
      LATERAL (SELECT floor(extract(epoch FROM now()) / 60)::int - ago AS minute, (ago BETWEEN 20 AND 22)::int AS failed) AS past
    ON CONFLICT DO NOTHING`);
  for (const [size, viewport] of Object.entries(SIZES)) {
    for (const colorScheme of ["light", "dark"] as const) {
      const page = await (await browser.newContext({ viewport, colorScheme, locale: "en-GB" })).newPage();
      await page.goto(`${file.base_url}/#/sign-in?workspace=${file.workspace_id}&token=${file.api_token}`);
      await page.getByRole("heading", { name: "Overview" }).waitFor();
      for (const place of places) {
        await page.goto(`${file.base_url}/#${place}`);
        await page.getByRole("heading", { level: 1 }).waitFor();
        await page.getByText("Loading", { exact: true }).first().waitFor({ state: "detached" });
        // The chart's own code comes later than its page, and draws with the frame after the one that lays it out.
        for (const room of await page.locator(".chart-room").all()) await room.locator("canvas").first().waitFor();
        await page.evaluate("document.fonts.ready");
        await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
        await page.screenshot({ path: join(folder, `${nameOf(place)}.${size}.${colorScheme}.png`), fullPage: true });
      }
      await page.context().close();
    }
  }
  console.log(`pictures of ${places.length} pages lie in ${folder}`);
} finally {
  await browser.close();
  await receiver.close();
  await instance.destroy();
}

/** `mappings-one-edit` */
function nameOf(place: string): string {
  return (
    place
      .replace(/[a-z]+_[\w-]+|\d+/, "one")
      .slice(1)
      .replaceAll("/", "-") || "overview"
  );
}
