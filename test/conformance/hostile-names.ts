/** Fragments that have broken out of quotes, statements or lines somewhere: single characters, and longer ones. */
const FRAGMENTS: readonly string[] = [
  ..."'\"`;\\%?#\n\t\u0000\u0001\u007f\u00a0\u200b\u202e\ufeff\ud800\u2028 ./()[]{}<>&|=+-*,!~^éßİıKﬀ\uff41\u0430😀عא",
  ..."'' \"\" -- /* */ \\' %s %I $1 $$ $tag$ :x @x \r\n \u001b[31m .. ../ () 日本 👩\u200d👩\u200d👧".split(" "),
  "  ",
];

const ATTACKS = [
  'contact"; DROP TABLE victim; --',
  "contact'; DROP TABLE victim; --",
  'contact" CASCADE; CREATE TABLE pwned (id int); --',
  'contact""; SELECT pg_sleep(10); --',
  "victim ",
  " victim",
  '"victim"',
  "public.victim",
  'U&"\\0076ictim"',
  "E'\\x76'",
  "victim)--",
  "victim AS x",
  "victim, contact",
  "(SELECT 1)",
  "1contact",
  "-1",
  "Contact WHERE Id != null",
  "Contact USING SCOPE everything",
  "{{7*7}}",
  "$" + "{jndi:ldap://x}",
  "<script>alert(1)</script>",
  "=1+1",
  "javascript:alert(1)",
  "constructor.prototype",
];

/** Names that are no identifier, whatever they mean: none of them may ever reach SQL or SOQL. */
export const NEVER_A_NAME: readonly string[] = [
  "",
  ...ATTACKS,
  ...FRAGMENTS.flatMap((fragment) => [`contact${fragment}`, `${fragment}contact`]),
  ...FRAGMENTS.filter((fragment) => fragment.trim() !== "").map((fragment) => `con${fragment}tact`),
];

/** Further names that no table may have. */
export const NEVER_A_TABLE: readonly string[] = [
  ...[
    "x".repeat(64),
    "x".repeat(10_000),
    "Contact",
    "CONTACT",
    "_trigger_log",
    "_trigger_log_archive",
    "_trigger_logs",
  ],
  ...["_bridge", "_bridge_state", "_bridge_anything", "_hcmeta", "_sf_event_log"],
];

/** Names that look odd and are proper: each must become exactly the table of this name. */
export const ODD_TABLES: readonly string[] = [
  ..."select table user order null true end public pg_class information_schema _ _x a t_1 constructor tostring".split(
    " ",
  ),
  ...["x".repeat(63), `${"x".repeat(62)}y`],
];

/** Further names that no object and no field has: proper in form, unknown or too long. */
export const NEVER_AN_API_NAME: readonly string[] = [
  ...["_Contact", "__proto__x", "9Contact", "No_such_thing__c", `X${"x".repeat(63)}`, `X${"x".repeat(80)}__c`],
  ...["constructor", "toString", "hasOwnProperty"],
];
