import "./docs.css";
import MiniSearch from "minisearch";

/** A heading of the documentation with the text below it, as `lib/infra/build-docs.ts` writes them. */
interface Section {
  readonly id: string;
  readonly page: string;
  readonly heading: string;
  readonly text: string;
}

const MOST_RESULTS = 12;

/** The search of the documentation: the sections are loaded with the first letter, and searched in the browser. */
function addSearch(place: Element): void {
  const field = document.createElement("input");
  field.type = "search";
  field.placeholder = "Search";
  field.setAttribute("aria-label", "Search the documentation");
  const status = document.createElement("p");
  status.setAttribute("role", "status");
  const list = document.createElement("ul");
  place.append(field, status, list);

  let index: Promise<MiniSearch<Section>> | null = null;
  const show = async () => {
    const wanted = field.value.trim();
    index ??= loadIndex();
    try {
      const results = wanted === "" ? [] : find(await index, wanted);
      if (field.value.trim() !== wanted) return; // a later letter has asked since
      list.replaceChildren(...results.map(resultOf));
      status.textContent = wanted === "" ? "" : summaryOf(results.length, wanted);
    } catch {
      index = null;
      status.textContent = "The search index did not load. Type again to retry.";
    }
  };
  field.addEventListener("input", () => void show());
  field.addEventListener("keydown", ({ key }) => {
    if (key === "Enter") list.querySelector("a")?.click();
    if (key === "Escape") {
      field.value = "";
      void show();
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target === field) return;
    event.preventDefault();
    field.focus();
  });
}

async function loadIndex(): Promise<MiniSearch<Section>> {
  const answer = await fetch(new URL(document.body.dataset["sections"] ?? "", document.baseURI));
  if (!answer.ok) throw new Error(`the search index answered ${answer.status}`);
  const index = new MiniSearch<Section>({
    fields: ["heading", "page", "text"],
    storeFields: ["page", "heading", "text"],
    // Names such as `sf_polling_seconds` and `POSTGRES_UNAVAILABLE` are words, not three.
    tokenize: (text) => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [],
    searchOptions: { boost: { heading: 4, page: 2 }, prefix: true, fuzzy: 0.15, combineWith: "AND" },
  });
  index.addAll((await answer.json()) as Section[]);
  return index;
}

interface Result {
  readonly id: string;
  readonly page: string;
  readonly heading: string;
}

const find = (index: MiniSearch<Section>, wanted: string): readonly Result[] =>
  index.search(wanted).slice(0, MOST_RESULTS) as unknown as readonly Result[];

function resultOf({ id, page, heading }: Result): HTMLLIElement {
  const item = document.createElement("li");
  const link = document.createElement("a");
  link.href = id;
  link.textContent = page === heading ? page : `${page}: ${heading}`;
  item.append(link);
  return item;
}

const summaryOf = (results: number, wanted: string): string =>
  results === 0 ? `No page has "${wanted}".` : results === 1 ? "One result" : `${results} results`;

const place = document.querySelector("#search");
if (place) addSearch(place);
