import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { buildConsole, MOST_SCRIPT_BYTES } from "../../lib/infra/build-console.ts";

test("a first visit to the console loads less script than its limit, and no more than it says", async () => {
  const { files, firstLoad } = await buildConsole();
  const scripts = [...files].filter(([path]) => path.endsWith(".js"));
  const all = scripts.reduce((sum, [, content]) => sum + gzipSync(content, { level: 9 }).length, 0);

  expect(firstLoad.scriptBytes).toBeGreaterThan(0);
  expect(firstLoad.scriptBytes).toBeLessThanOrEqual(MOST_SCRIPT_BYTES);
  expect(firstLoad.scriptBytes).toBeLessThan(all); // the other pages are loaded when they are opened
});

test("all that the console's page names is there, and it holds no script or style of its own, which the policy refuses", async () => {
  const { files } = await buildConsole();
  const page = Buffer.from(files.get("index.html") ?? []).toString("utf8");

  expect(page).toContain('<div id="root"></div>');
  expect(page).not.toMatch(/<script(?![^>]* src=)/);
  expect(page).not.toMatch(/<style| style=| on\w+=/);
  expect([...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address)).not.toContainEqual(
    expect.stringMatching(/^(?:https?:)?\//),
  );

  const named = [...page.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map(([, path]) => path);

  expect(named.length).toBeGreaterThan(2);
  expect(named.filter((path) => path === undefined || !files.has(path))).toEqual([]);
});
