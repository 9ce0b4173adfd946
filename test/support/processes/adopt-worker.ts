import { migrate } from "../../../lib/adapters/postgres/migrate.ts";
import { createProvisioner } from "../../../lib/adapters/postgres/provision.ts";
import { openSession } from "../../../lib/adapters/postgres/session.ts";
import { guardConnections } from "../../../lib/adapters/reach.ts";
import type { Mapping } from "../../../lib/model/mapping.ts";
import type { TableShape } from "../../../lib/model/shape.ts";

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
  await migrate(session, shape.schema, mapping.workspaceId, { adopts: true });
  await session.close();
  await createProvisioner(connection, () => new Date()).provision(mapping, shape);
  process.disconnect();
});
