/** What PostgreSQL said, as its driver gives it: words, SQLSTATE, and the names that some errors come with. */
export interface PostgresError {
  readonly message?: unknown;
  readonly table?: unknown;
  readonly column?: unknown;
  readonly constraint?: unknown;
  /** The functions that it comes from, the innermost first; none where it comes from a statement itself. */
  readonly where?: unknown;
}

const CONTINUES = "syncing continues automatically";

/** What a SQLSTATE means for the database's operator, and what to do (PostgreSQL documentation, appendix A). */
const MEANINGS: Readonly<Record<string, string>> = {
  "25006": "it only reads, as a standby does; connect the workspace to the primary (`bridge connect postgres`)",
  "28000": "it does not let our user in; look at pg_hba.conf",
  "28P01": "it refuses our password; give the new one (`bridge connect postgres`)",
  "3D000": "it has no database of this name any more; give its address (`bridge connect postgres`)",
  "40001": `another transaction got in our way again and again; ${CONTINUES}`,
  "40P01": `another transaction got in our way again and again; ${CONTINUES}`,
  "42501": "grant it to our user; `bridge doctor` looks at what else is missing",
  "42703": "it was dropped or renamed; `bridge doctor` lists what is missing of mapped tables",
  "42P01": "it was dropped or renamed; `bridge doctor` lists what is missing of mapped tables",
  "53100": "make room on its disk",
  "53200": "it has no memory left; look at work_mem and at what else runs there",
  "53300": "it has no connection left; raise max_connections, or connect through a pooler",
  "55P03": "it has locked a mapped table as a whole, as while an index is built; syncing continues when that ends",
  "57014":
    "a statement took longer than it may; look for long locks, a disk that is slow, or a table without its index",
  "57P01": `it was shut down, or its administrator ended our session; ${CONTINUES} when it is back`,
  "57P02": `it is starting again after a crash; ${CONTINUES} when it is back`,
  "57P03": `it is starting or stopping; ${CONTINUES} when it is back`,
  "58030": "its disk failed to read or write; look at the server's log at once",
  XX001: "its data are damaged; look at the server's log at once",
  XX002: "one of its indexes is damaged; REINDEX it",
};

const IN_A_FUNCTION = "a trigger or function of the database has raised it; the server's log has its words";

const INTEGRITY = "a constraint of the mapped table refuses the values";

/** By the first two characters. */
const CLASSES: Readonly<Record<string, string>> = {
  "08": `the connection broke; ${CONTINUES}`,
  "23": INTEGRITY,
  P0: IN_A_FUNCTION,
};

/** Trouble of the server or between transactions, wherever it is met. */
const SERVERS = /^(08|40|53|55|57|58|XX)/;

/** Errors whose words name tables and columns and what the server lacks, never a value of a row; a function may say anything. */
const WORDS_ARE_SAFE = new Set(["25006", "42501", "42703", "42P01", "53100", "53200", "57014"]);

/**
 * One sentence or two on what PostgreSQL refused: the SQLSTATE, its own words where no value of a row can be in them, the
 * names that come with it, and what to do.
 */
export function postgresTrouble(code: string, error: PostgresError): string {
  const names = (["constraint", "column", "table"] as const)
    .map((kind) => (typeof error[kind] === "string" ? `${kind} ${error[kind]}` : null))
    .filter((named) => named !== null);
  const isInFunction = typeof error.where === "string";
  const words = WORDS_ARE_SAFE.has(code) && !isInFunction && typeof error.message === "string" ? [error.message] : [];
  const said = words.length > 0 ? words : names.length > 0 ? [names.join(", ")] : [];
  const ofCode = MEANINGS[code] ?? CLASSES[code.slice(0, 2)];
  const meaning = isInFunction && !SERVERS.test(code) ? IN_A_FUNCTION : ofCode;
  const rest = [...said, ...(meaning === undefined ? [] : [meaning])].join("; ");
  return `PostgreSQL refused (SQLSTATE ${code})${rest === "" ? "" : `: ${rest}`}`;
}
