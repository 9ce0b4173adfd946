/** Pieces that a lying org repeats, each aimed at a parser. */
const REPEATED = [
  ..."<!----> <!-- <title <faultstring> <faultcode>sf: <![CDATA[ &amp;amp; <a/> < [ 1, 9 1e".split(" "),
  ...'{"a": "a", \\" \\ \\u00 " , a A:'.split(" "),
  ...["<?xml ", "<!doctype ", "<a b='c' ", "<current>1</current> <limit>", "\n", " ", "-- ", "\uFEFF"],
  ...["Foreign key external ID:  not found for field a in entity ", "INVALID_FIELD:"],
];

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

/** Texts of so many letters that an org, a proxy or a host in its place may answer, by name. */
export function lyingTexts(letters: number): Map<string, string> {
  const texts = REPEATED.flatMap((piece) =>
    BEFORE.flatMap((before) =>
      ["", "x"].map((behind): [string, string] => [
        `${JSON.stringify(piece)} behind ${JSON.stringify(before)}${behind && ", and an x"}`,
        before + piece.repeat(Math.ceil(letters / piece.length)) + behind,
      ]),
    ),
  );
  return new Map(texts);
}
