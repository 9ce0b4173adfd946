import { readFileSync } from "node:fs";

/** The text of the file beside this one; `infra/sql-as-text.ts` puts it into bundles, which are one file each. */
export default readFileSync(`${import.meta.dirname}/first-tables.sql`, "utf8");
