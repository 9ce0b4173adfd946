import { migrate } from "../../../lib/adapters/postgres/schema/migrate.ts";
import { createProvisioner } from "../../../lib/adapters/postgres/schema/provision.ts";
import { openSession } from "../../../lib/adapters/postgres/session/session.ts";
import { archiveLog } from "../../../lib/heroku-connect/archive-log.ts";
import { herokuConnect } from "../../../lib/heroku-connect/heroku-connect.ts";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import type { TableShape } from "../../../lib/model/mapping/shape.ts";
import { guardConnections } from "../../../lib/network/guarded-dns.ts";

/** What a process of its own is to adopt: a schema of Heroku Connect's, then a table in it. */
export interface AdoptOrder {
  readonly url: string;
  readonly mapping: Mapping;
  readonly shape: TableShape;
}

// An adapter alone, without the composition that says what may be reached.
guardConnections(() => null);

process.once("message", async ({ url, mapping, shape }: AdoptOrder) => {
  const connection = { url, schema: shape.schema };
  const session = await openSession(connection);
  await migrate(session, shape.schema, mapping.workspaceId, { archiveLog });
  await session.close();
  await createProvisioner(connection, () => new Date(), herokuConnect).provision(mapping, shape);
  process.disconnect();
});
