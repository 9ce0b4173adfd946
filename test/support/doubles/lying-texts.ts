/** Pieces that a lying org repeats, each aimed at a parser. */
const REPEATED = {
  comments: "<!---->",
  "comments that stay open": "<!--",
  "declarations that stay open": "<?xml ",
  documents: "<!doctype ",
  "titles that stay open": "<title",
  faultstrings: "<faultstring>",
  faultcodes: "<faultcode>sf:",
  sections: "<![CDATA[",
  "entities of entities": "&amp;amp;",
  "elements without content": "<a/>",
  attributes: "<a b='c' ",
  angles: "<",
  usages: "<current>1</current> <limit>",
  brackets: "[",
  braces: '{"a":',
  ones: "1,",
  digits: "9",
  exponents: "1e",
  strings: '"a",',
  "escaped quotes": '\\"',
  backslashes: "\\",
  unicode: "\\u00",
  quotes: '"',
  commas: ",",
  lines: "\n",
  letters: "a",
  spaces: " ",
  colons: "A:",
  dashes: "-- ",
  parents: "Foreign key external ID:  not found for field a in entity ",
  codes: "INVALID_FIELD:",
  "byte order marks": "\uFEFF",
} as const;

/** What they come behind, so that a parser is in the midst of something. */
const BEFORE = [
  "",
  "<",
  "<faultcode>sf:A</faultcode><faultstring>",
  '{"a":"',
  '"',
  '[{"a":"',
  "Id\n",
  '"Id"\n"',
  "A_B:",
];

const BEHIND = ["", "x"];

/** Texts of so many letters that an org, a proxy or a host in its place may answer, by name. */
export function lyingTexts(letters: number): Map<string, string> {
  const texts = Object.entries(REPEATED).flatMap(([name, piece]) =>
    BEFORE.flatMap((before) =>
      BEHIND.map(
        (behind) =>
          [
            `${name} behind ${JSON.stringify(before)}${behind && ", and an x"}`,
            before + piece.repeat(Math.ceil(letters / piece.length)) + behind,
          ] as const,
      ),
    ),
  );
  return new Map(texts);
}
