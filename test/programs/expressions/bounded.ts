const OPTION = "an option of the operator's, written in a file or a command of their own";
const OWN_PAGES = "the project's own documentation, when it is built";
const OWN_CODE = "the project's own names, when it is built";
const OWN_TEMPLATE = "the project's own template of a deployment, on one machine";
const OWN_CLOUD = "the cloud of one machine, which listens to that machine alone";
const OWN_ORG = "the org of one machine, which listens to that machine alone";
const OWN_STATEMENTS = "the project's own statements, built of constants of the same file; values are parameters";
const OWN_WORDS = "built of constants of the same file";

/**
 * Expressions that backtrack for longer than their text is, or that have parts, and why that does no harm: who
 * writes the text, or the parts. None reads a text of an org's, a database's, a receiver's or a caller's.
 */
export const BOUNDED: Readonly<Record<string, string>> = {
  "/^([\\d.]+|[\\da-f:]*:[\\da-f:.]*)\\/(\\d{1,3})$/i": OPTION,
  "/[`*]|\\[([^\\]]*)\\]\\([^)]*\\)/g": OWN_PAGES,
  "/!?\\[([^\\]]*)\\]\\([^)]*\\)/g": OWN_PAGES,
  "/<!--.*?-->/gs": OWN_PAGES,
  '/<a href="[^#"]+">.*?<\\/a>/g': OWN_PAGES,
  "/.*node_modules\\/(@[^/]+\\/)?([^/]+)/": OWN_CODE,
  "/\\$\\{(!?)([^}]+)\\}/g": OWN_TEMPLATE,
  '/^\\s*(\\w+)\\s+(?:INTO\\s+|.*?FROM\\s+)?"([^"]+)"/is': OWN_CLOUD,
  "/Credential=([^/,\\s]+)\\/\\d{8}\\/[^/]+\\/([^/]+)\\/aws4_request/": OWN_CLOUD,
  "/^[+-]?(\\d+\\.?\\d*|\\.\\d+)([eE][+-]?\\d+)?$/": OWN_CLOUD,
  'new RegExp(`^${source}$`, "s")': OWN_CLOUD,
  "/@\\{([^}]+)\\}/g": OWN_ORG,
  "/<(?:\\w+:)?Body[^>]*>\\s*<(?:\\w+:)?(\\w+)/": OWN_ORG,
  "/^[+-]?(\\d+\\.?\\d*|\\.\\d+)(e[+-]?\\d+)?$/i": OWN_ORG,
  "new RegExp(fault.path)": OWN_ORG,
  'new RegExp(`\\\\b${fault.object}\\\\b`, "i")': OWN_ORG,
  'new RegExp(`(?<![\\\\w.])${escaped(word)}(?!\\\\w)`, "i")': OWN_ORG,
  "new RegExp(`^(?:${textOf(pattern)})$`)": OWN_ORG,
  'new RegExp(`${word}\\\\b`, "iy")': OWN_WORDS,
  'new RegExp(`${STAYS}|${BLOCK}|${CALL}|${OPERATOR}`, "g")': OWN_STATEMENTS,
  'new RegExp(`^${path.replace(/\\{\\w+\\}/g, "[^/]+")}$`)': "built of the routes, in which a parameter is one segment",
  'new RegExp(`^${pattern.replace("{id}", "([^/]+)")}$`)': OWN_WORDS,
};
