/** Looks into databases that are to be connected; apart from the composition, because it brings the driver along. */
export { databases } from "../lib/adapters/postgres/look.ts";
/** The same for what Heroku Connect has made of them. */
export { theirSchemas } from "../lib/adapters/postgres/their-schema.ts";
