import { startPostgres } from "../../../lib/local/postgres/start-postgres.ts";

/** Holds the PostgreSQL of a data folder until it is killed. */
const { url } = await startPostgres({ dataDir: String(process.argv[2]) });
console.log(JSON.stringify({ url }));
