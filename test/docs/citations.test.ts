import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join, posix } from "node:path";
import { expect, test } from "vitest";
import { anchorsOf } from "../../lib/infra/build-docs.ts";
import { PROJECT, textOf } from "./blocks.ts";

/** Pages of facts and rules that code cites by section: "contract 3.5", "salesforce-facts 2.3". */
const BY_SECTION = ["contract", "salesforce-facts", "heroku-connect-facts"];

const FILES = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  cwd: PROJECT,
  encoding: "utf8",
})
  .split("\n")
  .filter((file) => file !== "" && existsSync(join(PROJECT, file)));

const NAMES = new Set(FILES.map((file) => basename(file)));

const SOURCES = FILES.filter((file) => /^(bin|functions|lib|test)\/.*\.(ts|tsx|mjs)$/.test(file)).filter(
  (file) => file !== "lib/http/openapi/types.ts" && file !== "test/docs/citations.test.ts",
);

test("each citation in the code names something that is in the repository, and none a spec or issue that is not", () => {
  const missing = SOURCES.flatMap((file) => {
    const source = readFileSync(join(PROJECT, file), "utf8");
    const comments = commentsIn(source);
    const foreign = /\b[Ii]ssue \d|\bdesign section\b|\b(the|of) spec\b|\(spec \d|\(reference \d/;
    const found = [...comments.flatMap(missingSections), ...comments.filter((text) => foreign.test(text))];
    return [...found.map((what) => `${file}: ${what.trim()}`), ...missingFiles(file, source)];
  });

  expect(missing).toEqual([]);
});

test("a citation that names nothing would be found", () => {
  expect(missingSections("(contract 3.1, 6.4.2, 6.4.9 and 3.9)")).toEqual(["contract 6.4.9", "contract 3.9"]);
  expect(missingSections("(salesforce-facts 7 and 88)")).toEqual(["salesforce-facts 88"]);
  expect(missingFiles("bin/serve.ts", "// lib/docs/rows.md has more, lib/docs/raws.md and read-pages.ts too")).toEqual([
    ...["bin/serve.ts: lib/docs/raws.md", "bin/serve.ts: read-pages.ts"],
  ]);
  const anchors = 'const texts = ["lib/infra/RUNBOOK.md#throttles", "lib/infra/RUNBOOK.md#throttled"];';
  expect(missingFiles("bin/serve.ts", anchors)).toEqual(["bin/serve.ts: lib/infra/RUNBOOK.md#throttled"]);
});

/** Comments, and the names of tests, which cite as well. */
function commentsIn(source: string): string[] {
  return [...source.matchAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*|\b(?:test|describe)\("[^"]*"/gm)].map(([text]) =>
    text.replaceAll(/\n\s*\* ?/g, " "),
  );
}

function missingSections(text: string): string[] {
  const citation = new RegExp(
    `\\b(${BY_SECTION.join("|")})(?:\\.md)?((?:,? (?:and )?\\d[\\d.]*\\d|,? (?:and )?\\d)+)`,
    "g",
  );
  return [...text.matchAll(citation)].flatMap(([, page = "", numbers = ""]) =>
    [...numbers.matchAll(/\d[\d.]*\d|\d/g)]
      .filter(([number]) => !sectionsOf(page).has(number))
      .map(([number]) => `${page} ${number}`),
  );
}

const known = new Map<string, ReadonlySet<string>>();

/** Numbers of headings, and of the items of a numbered list below one: `6.4`, `6.4.2`. */
function sectionsOf(page: string): ReadonlySet<string> {
  const before = known.get(page);
  if (before) return before;
  const sections = new Set<string>();
  let heading = "";
  for (const line of textOf(`lib/docs/${page}.md`).split("\n")) {
    const [, number] = /^#+ (\d+(?:\.\d+)*)\b/.exec(line) ?? [];
    if (number !== undefined) heading = number;
    const [, item] = /^(\d+)\. /.exec(line) ?? [];
    if (heading !== "") sections.add(item === undefined ? heading : `${heading}.${item}`);
  }
  known.set(page, sections);
  return sections;
}

/** Pages by their path anywhere in a source, with the heading if one is named; other files where a comment names them. */
function missingFiles(file: string, source: string): string[] {
  const pages = [...source.matchAll(/(?<![\w./-])((?:lib|test|functions|bin|\.github)\/[\w./-]+\.md)(#[\w-]+)?/g)]
    .filter(
      ([, path = "", anchor]) =>
        !FILES.includes(path) || (anchor !== undefined && !anchorsOf(textOf(path)).has(anchor.slice(1))),
    )
    .map(([named]) => `${file}: ${named}`);
  const others = commentsIn(source)
    .flatMap((text) => [...text.matchAll(/(?<![\w./*<>-])([a-zA-Z][\w./-]*\.(?:ts|tsx|yaml))\b/g)])
    .map(([, path = ""]) => path)
    .filter((path) => !isThere(file, path))
    .map((path) => `${file}: ${path}`);
  return [...new Set([...pages, ...others])];
}

function isThere(file: string, path: string): boolean {
  if (!path.includes("/")) return NAMES.has(path);
  const roots = ["", "lib", dirname(file), dirname(dirname(file))];
  return (
    roots.some((root) => FILES.includes(posix.join(root, path))) || FILES.some((each) => each.endsWith(`/${path}`))
  );
}
