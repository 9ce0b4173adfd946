import type { Predecessor } from "../adapters/postgres/schema/predecessor.ts";
import { dropCompatColumns, keepCompatColumns } from "./compat-columns.ts";
import { endHerokuConnectCapture, noteTakenOver } from "./heroku-connect-triggers.ts";
import { importLog } from "./import-log.ts";
import { startFromHerokuConnect } from "./initial-watermark.ts";

/** Heroku Connect, as a provisioner meets it in a schema. */
export const herokuConnect: Predecessor = {
  async endCapture(session, { schema, table }) {
    const ended = await endHerokuConnectCapture(session, schema, table);
    if (ended.length === 0) return null;
    return {
      importLog: (mapped, at) => importLog(session, mapped, at),
      startPulls: async (mapped, addedColumns, at) => {
        await startFromHerokuConnect(session, mapped, addedColumns, at);
        await noteTakenOver(session, schema, table);
      },
    };
  },
  keepColumns: keepCompatColumns,
  dropColumns: dropCompatColumns,
};
