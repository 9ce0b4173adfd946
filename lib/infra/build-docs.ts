import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, extname, join, posix, resolve } from "node:path";
import { build as esbuild } from "esbuild";
import GithubSlugger from "github-slugger";
import { Marked, type Token, type Tokens } from "marked";
import { sourcesIn } from "./freshness.ts";

const PROJECT = resolve(import.meta.dirname, "../..");
const PAGES = "lib/docs";
const INDEX = `${PAGES}/README.md`;
const SEARCH = "lib/console/docs/search.ts";
const ICON = "lib/console/mark.svg";

/** Pages that lie beside what they describe, by the name under which they are served. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  ".github/CONTRIBUTING.md": "contributing",
  ".github/SECURITY.md": "report-a-vulnerability",
  "CHANGELOG.md": "changelog",
  "lib/README.md": "map",
  "lib/heroku-connect/HEROKU-CONNECT.md": "heroku-connect",
  "lib/infra/OUTAGES.md": "outages",
  "lib/infra/RUNBOOK.md": "runbook",
  "lib/infra/SIZING.md": "sizing",
  "lib/local/README.md": "local-cloud",
  "lib/local/org/README.md": "embedded-org",
};

/** One page of the documentation. */
export interface DocsPage {
  /** What follows `/docs/` in its address; `index` is the list of all. */
  readonly name: string;
  /** Its file, relative to the project. */
  readonly file: string;
  readonly title: string;
  readonly html: string;
  readonly sections: readonly Section[];
  /** Files of the project that the page shows: pictures. */
  readonly pictures: readonly string[];
  /** Links and pictures that lead nowhere, and what is not shown as it is meant, HTML and mermaid: a sentence each. */
  readonly problems: readonly string[];
}

/** What the search finds: a heading with the text below it. */
interface Section {
  /** The page's name and the heading's anchor: `rows#deletes`; the page's own name for what comes before the first one. */
  readonly id: string;
  readonly page: string;
  readonly heading: string;
  readonly text: string;
}

/**
 * The documentation as files of the console's site: `docs/<name>.html`, and in `assets` what the pages load. A link that
 * leads nowhere is text: a mistake in a page must not stop a build, so tests alone refuse the `problems` of pages.
 */
export async function buildDocs(): Promise<ReadonlyMap<string, Uint8Array>> {
  const pages = readPages();
  const index = pages.find(({ name }) => name === "index");
  if (!index) throw new Error(`${INDEX} is missing`);
  const assets = new Map<string, Uint8Array>();
  const add = (name: string, content: string | Uint8Array): string => {
    const bytes = Buffer.from(content);
    const digest = createHash("sha256").update(bytes).digest("base64url").slice(0, 8);
    const path = `assets/${basename(name, extname(name))}-${digest}${extname(name)}`;
    assets.set(path, bytes);
    return path;
  };
  const { js, css } = await bundleSearch();
  const parts = {
    icon: add(ICON, readFileSync(join(PROJECT, ICON))),
    script: add("docs.js", js),
    style: add("docs.css", css),
    sections: add("docs.json", JSON.stringify(pages.flatMap(({ sections }) => sections))),
  };
  const pictures = new Map(
    [...new Set(pages.flatMap((page) => page.pictures))].map((file) => [
      file,
      add(file, readFileSync(join(PROJECT, file))),
    ]),
  );
  const navigation = navigationOf(index, pages);
  for (const page of pages) {
    const html = page.html.replaceAll(/src="([^"]+)"/g, (_, file: string) => `src="../${pictures.get(file)}"`);
    assets.set(`docs/${page.name}.html`, Buffer.from(frame({ ...page, html }, navigation, parts)));
  }
  return assets;
}

/** Every page, rendered, with its links resolved. */
export function readPages(): readonly DocsPage[] {
  const files = sourcesIn(join(PROJECT, PAGES), (file) => file.endsWith(".md")).map((file) => `${PAGES}/${file}`);
  const names = new Map([
    ...files.map((file) => [file, file === INDEX ? "index" : basename(file, ".md")] as const),
    ...Object.entries(ELSEWHERE),
  ]);
  const sources = [...names].map(([file, name]) => ({ file, name, text: readFileSync(join(PROJECT, file), "utf8") }));
  const anchors = new Map(sources.map(({ file, text }) => [file, anchorsOf(text)]));
  return sources.map((source) => render(source, { names, anchors }));
}

/** What links are resolved by: the pages' names and their anchors, by file. */
export interface Targets {
  readonly names: ReadonlyMap<string, string>;
  readonly anchors: ReadonlyMap<string, ReadonlySet<string>>;
}

/** The anchors of a page of Markdown, as GitHub makes them of its headings. */
export function anchorsOf(text: string): ReadonlySet<string> {
  const slugger = new GithubSlugger();
  return new Set(
    new Marked()
      .lexer(text)
      .filter(isHeading)
      .map((heading) => slugger.slug(plain(heading))),
  );
}

function render(source: { file: string; name: string; text: string }, targets: Targets): DocsPage {
  const { file, name, text } = source;
  const slugger = new GithubSlugger();
  const pictures: string[] = [];
  const problems: string[] = [];
  const marked = new Marked({
    renderer: {
      heading(token) {
        const { depth, tokens } = token;
        return `<h${depth} id="${slugger.slug(plain(token))}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const inner = this.parser.parseInline(tokens);
        const target = addressOf(href, source, targets);
        if (target instanceof Error) problems.push(target.message);
        return target === null || target instanceof Error ? inner : `<a href="${escaped(target)}">${inner}</a>`;
      },
      image({ href, text: alternative }) {
        const picture = posix.join(dirname(file), href);
        if (existsSync(join(PROJECT, picture))) pictures.push(picture);
        else problems.push(`${file} shows ${href}, which is not there`);
        return `<img src="${escaped(picture)}" alt="${escaped(alternative)}">`;
      },
      code({ text: code, lang }) {
        if (lang === "mermaid") problems.push(`${file} holds a drawing in mermaid, which /docs shows as its text`);
        return `<pre tabindex="0"><code>${escaped(code)}</code></pre>\n`;
      },
      html({ text: raw }) {
        if (!/^<!--/.test(raw)) problems.push(`${file} holds HTML, which /docs does not show: ${raw.slice(0, 60)}`);
        return "";
      },
    },
  });
  const tokens = marked.lexer(text);
  const html = marked
    .parser(tokens)
    .replaceAll("<table>", '<div class="scroll" tabindex="0"><table>')
    .replaceAll("</table>", "</table></div>");
  const title = plain(tokens.find(isHeading) ?? { text: name });
  return { name, file, title, html, sections: sectionsOf(name, title, tokens), pictures, problems };
}

/** Where a link leads on the served pages; null: to a file that is in the repository alone; an error: nowhere. */
export function addressOf(
  href: string,
  { file, name }: { file: string; name: string },
  { names, anchors }: Targets,
): string | null | Error {
  if (/^https?:/.test(href)) return href;
  const [path = "", anchor] = href.split("#");
  const target = path === "" ? file : posix.join(dirname(file), path);
  if (!existsSync(join(PROJECT, target))) return new Error(`${file} links to ${href}, which is not there`);
  if (anchor !== undefined && target.endsWith(".md")) {
    const known = anchors.get(target) ?? anchorsOf(readFileSync(join(PROJECT, target), "utf8"));
    if (!known.has(anchor)) return new Error(`${file} links to ${href}, but ${target} has no such heading`);
  }
  const page = path === "" ? name : names.get(target);
  if (page === undefined) return null;
  return `${page === "index" ? "../docs" : page}${anchor === undefined ? "" : `#${anchor}`}`;
}

function sectionsOf(name: string, title: string, tokens: readonly Token[]): Section[] {
  const slugger = new GithubSlugger();
  const sections: { id: string; page: string; heading: string; text: string }[] = [];
  const address = name === "index" ? "../docs" : name;
  for (const token of tokens) {
    if (isHeading(token)) {
      const anchor = slugger.slug(plain(token));
      const id = sections.length === 0 ? address : `${address}#${anchor}`;
      sections.push({ id, page: title, heading: plain(token), text: "" });
    } else {
      const last = sections.at(-1);
      if (last) last.text += ` ${withoutMarks(token.raw)}`;
    }
  }
  return sections;
}

/** Pages that the index does not list. */
export function unlisted(pages: readonly DocsPage[]): DocsPage[] {
  const index = pages.find(({ name }) => name === "index");
  return pages.filter(({ name }) => name !== "index" && !index?.html.includes(`<a href="${name}">`));
}

/** Groups of pages with their titles, as the index has them; what it leaves out comes last. */
function navigationOf({ html }: DocsPage, pages: readonly DocsPage[]): string {
  const parts = html.split(/<h2 id="[^"]+">/).slice(1);
  const groups = parts.map((part) => {
    const [heading = "", rest = ""] = part.split("</h2>");
    return `<h2>${heading}</h2><ul>${[...rest.matchAll(/<a href="[^#"]+">.*?<\/a>/g)].map(([link]) => `<li>${link}</li>`).join("")}</ul>`;
  });
  const others = unlisted(pages).map(({ name, title }) => `<li><a href="${name}">${escaped(title)}</a></li>`);
  return [...groups, ...(others.length > 0 ? [`<h2>More</h2><ul>${others.join("")}</ul>`] : [])].join("\n");
}

interface Parts {
  readonly icon: string;
  readonly script: string;
  readonly style: string;
  readonly sections: string;
}

/** The page starts with `<head>` alone, before which the server writes the base that all addresses are relative to. */
function frame({ name, title, html }: DocsPage, navigation: string, { icon, script, style, sections }: Parts): string {
  const current = navigation.replaceAll(`<a href="${name}">`, `<a href="${name}" aria-current="page">`);
  const top = name === "index" ? "../docs" : name;
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>${escaped(title)} · Bridge</title>
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <link rel="icon" href="../${icon}">
    <link rel="stylesheet" href="../${style}">
    <script src="../${script}" defer></script>
  </head>
  <body data-sections="../${sections}">
    <a class="skip" href="${top}#main">Skip to the text</a>
    <header>
      <a class="brand" href="../docs">Bridge documentation</a>
      <search id="search"></search>
      <a href="../">Console</a>
    </header>
    <details class="places"><summary>All pages</summary><nav aria-label="Pages on a narrow screen">${current}</nav></details>
    <nav class="side" aria-label="Pages">${current}</nav>
    <main id="main">
${html}
    </main>
  </body>
</html>
`;
}

async function bundleSearch(): Promise<{ js: string; css: string }> {
  const { outputFiles } = await esbuild({
    absWorkingDir: PROJECT,
    entryPoints: [SEARCH],
    outdir: "out",
    bundle: true,
    write: false,
    minify: true,
    format: "iife",
    target: "es2022",
    legalComments: "none",
    logLevel: "warning",
  });
  const of = (end: string) => outputFiles.find(({ path }) => path.endsWith(end))?.text ?? "";
  return { js: of(".js"), css: of(".css") };
}

const isHeading = (token: Token): token is Tokens.Heading => token.type === "heading";

/** The text of a heading, without its marks. */
const plain = ({ text }: { text: string }): string =>
  text.replaceAll(/[`*]|\[([^\]]*)\]\([^)]*\)/g, (_, words?: string) => words ?? "");

const withoutMarks = (text: string): string =>
  text
    .replaceAll(/<!--.*?-->/gs, "")
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/[`*|]|^#+|-{3,}|^```.*$/gm, " ")
    .replaceAll(/\s+/g, " ")
    .trim();

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escaped = (text: string): string => text.replace(/[&<>"]/g, (sign) => ESCAPES[sign] ?? sign);
