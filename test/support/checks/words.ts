/** A word that Bridge once used in a meaning of its own, what the field says instead, and how it is found in prose. */
interface PrivateWord {
  readonly word: string;
  readonly instead: string;
  /** An ordinary use of the same letters is left out here. */
  readonly found: RegExp;
}

/** Words that occur in no comment, string, test name or file name. */
const PRIVATE_WORDS: readonly PrivateWord[] = [
  { word: "told, tells", instead: "reports, logs, sends, says", found: /\b(un)?(tell|tells|telling|told)\b/i },
  { word: "stands", instead: "is, is stored, is listed", found: /\b(stands?|stood|standing)\b(?!-in|-alone)/i },
  { word: "goes on", instead: "continues", found: /\b(goes|go|going|went|gone) on\b(?! call)/i },
  { word: "by itself", instead: "automatically, alone", found: /\bby (itself|themselves)\b/i },
  { word: "made", instead: "created, built", found: /\b(made of|(is|are|was|were|be|been|being) made)\b/i },
  {
    word: "taken",
    instead: "accepted, claimed",
    found: /(?<!\b(already|name is|slot) )\btaken\b(?! (from|over|offline))/i,
  },
  { word: "whoever", instead: "the caller", found: /\b(whoever|whomever|somebody|nobody|anybody|everybody)\b/i },
  { word: "he", instead: "the caller, the operator", found: /\b(he|she|him|his|himself)\b/ },
  {
    word: "turns",
    instead: "order, alternately, a slot",
    found: /\b(by|in|its|their|a|the|one|whose|every|take|takes|took) turns?\b(?! (of|to))/i,
  },
  { word: "patience", instead: "timeout, error class", found: /\b(im)?(patience|patient)\b/i },
  { word: "knock", instead: "reconnect, retry", found: /\bknock(s|ed|ing)?\b/i },
  { word: "in hand", instead: "pending", found: /\bin[ -]hand\b/i },
  { word: "owed", instead: "pending, due", found: /\b(owe|owes|owed|owing)\b/i },
  { word: "put right", instead: "correct, fix", found: /\b(puts?|putting|sets?)[ -](it |them )?right\b/i },
  { word: "remembers", instead: "caches, keeps, stores", found: /\bremember(s|ed|ing)?\b/i },
  { word: "becomes of", instead: "the result", found: /\b(becomes?|became|comes?|came) of\b/i },
  { word: "is to be", instead: "must be", found: /\b(is|are|was|were) (not )?to be\b/i },
  { word: "mend", instead: "fix, repair", found: /\bmend(s|ed|ing)?\b/i },
  { word: "ring-fenced", instead: "reserved", found: /\bring-?fence/i },
  { word: "anew", instead: "again", found: /\b(anew|once more)\b/i },
  { word: "a doubt", instead: "an unknown outcome; in doubt", found: /(?<!\bin )\bdoubts?\b(?! ports)/i },
  {
    word: "a look",
    instead: "a poll, a check",
    found: /\b(a|the|its|each|every|daily|next|one|first|last|this) looks?\b(?!-)/i,
  },
  { word: "hears", instead: "receives, finds out", found: /\b(hears?|heard|learns|learned|learnt)\b/i },
];

/** Words that are out of place in a message: it says what happened, why, and what to do. */
const BANNED_IN_MESSAGES: readonly PrivateWord[] = [
  { word: "please", instead: "the imperative alone", found: /\b(please|kindly)\b/i },
  { word: "oops", instead: "what happened", found: /\b(oops|sorry|unfortunately|somehow)\b/i },
  { word: "simply", instead: "nothing", found: /\b(simply|obviously)\b/i },
];

/** A piece of prose: a comment or a string, and the line on which it begins. */
interface Prose {
  readonly line: number;
  readonly text: string;
  readonly isMessage: boolean;
}

/** One place where a word occurs that must not: `lib/sync/run-cycle.ts:12: told`. */
export function privateWordsOf(file: string, source: string): string[] {
  const at = (line: number, found: string, { word, instead }: Pick<PrivateWord, "word" | "instead">): string =>
    `${file}:${line}: "${found}" (${word}): ${instead}`;
  const prose = proseOf(file, source);
  const quotesOthers = /^(lib|test)\/local\/(org|cloud)\/|-facts\.md$/.test(file); // Salesforce and AWS say please
  const name = { line: 1, text: file.replace(/.*\//, "").replace(/[-_.]/g, " "), isMessage: false };

  return [name, ...prose].flatMap(({ line, text, isMessage }) => {
    const words = isMessage && !quotesOthers ? [...PRIVATE_WORDS, ...BANNED_IN_MESSAGES] : PRIVATE_WORDS;
    const places = words.flatMap(({ found, ...names }) => everyMatch(found, text).map((match) => ({ match, names })));
    return places.map(({ match, names }) =>
      at(line + text.slice(0, match.index).split("\n").length - 1, match[0].replace(/\s+/g, " "), names),
    );
  });
}

/** Words may be on two lines; a name in backticks is code. */
function everyMatch(found: RegExp, text: string): RegExpExecArray[] {
  const prose = text.replace(/`[\w.-]+`/g, (name) => "`".repeat(name.length));
  return [...prose.matchAll(new RegExp(found.source.replaceAll(" ", "\\s+"), `${found.flags}g`))];
}

/** The comments and strings of a program, the names of imported files aside; of a page (`.md`) and of JSX all text. */
function proseOf(file: string, source: string): Prose[] {
  if (file.endsWith(".md")) return [{ line: 1, text: source.replace(/`[^`\n]*`/g, "``"), isMessage: true }];
  const text = file.endsWith(".tsx") ? source.replace(/(from|import\() ?"[^"]*"/g, "") : "";
  return [...tokensOf(source), ...(text === "" ? [] : [{ line: 1, text, isMessage: false }])];
}

const TOKEN = new RegExp(
  [
    String.raw`(?<comment>\/\*[\s\S]*?\*\/|\/\/[^\n]*)`,
    String.raw`(?<specifier>(?:\bfrom|\bimport|\bimport\() ?"[^"\n]*")`,
    String.raw`(?<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')`,
    "(?<template>`(?:[^`\\\\]|\\\\[\\s\\S])*`)",
    String.raw`(?<=[=(,:;!&|?[{}\n] *|return )(?<pattern>\/(?![*/])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*)`,
  ].join("|"),
  "g",
);

/** Comments and strings of more than a word, in order. A template with another inside comes in several pieces. */
function tokensOf(source: string): Prose[] {
  const prose: Prose[] = [];
  let line = 1;
  let at = 0;
  for (const match of source.matchAll(TOKEN)) {
    line += source.slice(at, match.index).split("\n").length - 1;
    at = match.index;
    const { comment, string = "", template = "" } = match.groups ?? {};
    const text = comment?.replace(/\n\s*\*(?!\/) ?/g, "\n ") ?? string + template.replace(/\$\{[^{}]*\}/g, "$");
    if (/\s/.test(text)) prose.push({ line, text, isMessage: comment === undefined });
  }
  return prose;
}
