import { expect, test } from "vitest";
import { addressOf, buildDocs, readPages, unlisted } from "../../lib/infra/build-docs.ts";

const files = buildDocs();

/** The text of a built file. */
const textOf = async (path: string): Promise<string> => Buffer.from((await files).get(path) ?? []).toString("utf8");

/** Paths of the built pages. */
const pagesOf = async (): Promise<string[]> => [...(await files).keys()].filter((path) => path.endsWith(".html"));

test("every link of a page leads to a page or a file that is built, and every anchor to its heading", async () => {
  const built = await files;
  const broken: string[] = [];
  for (const path of await pagesOf()) {
    for (const [, address = ""] of (await textOf(path)).matchAll(/ (?:href|src|data-sections)="([^"]*)"/g)) {
      if (/^https:/.test(address) || address === "../") continue;
      const [target = "", anchor] = address.split("#");
      const file =
        target === "../docs"
          ? "docs/index.html"
          : target.replace(/^\.\.\/(.+)$|^(.+)$/, (_, asset, page) => asset ?? `docs/${page}.html`);
      const text = built.has(file) ? await textOf(file) : null;
      if (text === null || (anchor !== undefined && !text.includes(` id="${anchor}"`)))
        broken.push(`${path}: ${address}`);
    }
  }

  expect(broken).toEqual([]);
});

test("each page has one title and nothing that cannot be shown, and the index, lib/docs/README.md, lists it", () => {
  const pages = readPages();

  expect(pages.flatMap(({ problems }) => problems)).toEqual([]);
  for (const { file, html } of pages) {
    expect(html, file).toMatch(/^<h1 /);
    expect(html.match(/<h1 /g), file).toHaveLength(1);
  }
  expect(unlisted(pages)).toEqual([]);
  expect(unlisted(pages.map((page) => (page.name === "rows" ? { ...page, name: "raws" } : page)))).toMatchObject([
    { file: "lib/docs/rows.md" },
  ]);
});

test("no page loads, runs or styles anything but files of its own origin", async () => {
  for (const path of await pagesOf()) {
    const page = await textOf(path);

    expect(page).not.toMatch(/<script(?![^>]* src="\.\.\/assets\/)|<style| style=| on\w+="|src="https?:/);
    expect(page).not.toMatch(/<link [^>]*href="(?!\.\.\/assets\/)/);
  }
  const assets = [...(await files).keys()].filter((path) => /\.(js|css)$/.test(path));
  expect(assets).toHaveLength(2);
  for (const path of assets) expect(await textOf(path)).not.toMatch(/@import|url\(|https?:\/\//);
});

test("the search knows every heading of every page once", async () => {
  const path = [...(await files).keys()].find((file) => file.endsWith(".json")) ?? "";
  const sections = JSON.parse(await textOf(path)) as { id: string; heading: string; text: string }[];

  const ids = sections.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(sections.find(({ id }) => id === "rows")).toMatchObject({
    text: expect.stringContaining("writes Salesforce's answer back"),
  });
  expect(ids).toContain("security#what-leaves-the-machine");
});

test.each([
  ["#deletes", "rows#deletes"],
  ["../infra/RUNBOOK.md#throttles", "runbook#throttles"],
  ["README.md", "../docs"],
  ["https://www.postgresql.org/docs/", "https://www.postgresql.org/docs/"],
  ["../../package.json", null],
  ["no-such-page.md", new Error("lib/docs/rows.md links to no-such-page.md, which is not there")],
  [
    "#no-such-heading",
    new Error("lib/docs/rows.md links to #no-such-heading, but lib/docs/rows.md has no such heading"),
  ],
])("a link to %s becomes %s", (href, address) => {
  const anchors = { "lib/docs/rows.md": ["deletes"], "lib/infra/RUNBOOK.md": ["throttles"] };
  const names = { "lib/docs/rows.md": "rows", "lib/infra/RUNBOOK.md": "runbook", "lib/docs/README.md": "index" };
  const targets = {
    names: new Map(Object.entries(names)),
    anchors: new Map(Object.entries(anchors).map(([file, ids]) => [file, new Set(ids)])),
  };

  expect(addressOf(href, { file: "lib/docs/rows.md", name: "rows" }, targets)).toEqual(address);
});
