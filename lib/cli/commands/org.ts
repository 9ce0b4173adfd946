import { once } from "node:events";
import { resolve } from "node:path";
import { type Context, text, wholeNumber } from "../context.ts";

/** Runs the embedded org until Ctrl-C, and tells how to come in. */
export async function runOrg(context: Context): Promise<void> {
  const { machine, terminal, out } = context;
  const dataDir = resolve(terminal.folder, text(context, "dataDir") ?? ".bridge/org");
  const org = await machine.startOrg({ dataDir, port: wholeNumber(context, "port") ?? 0 });
  const { url, username, password, accessToken, clientId, clientSecret } = org;
  try {
    out.record({
      url,
      username,
      password,
      access_token: accessToken,
      client_id: clientId,
      client_secret: clientSecret,
    });
    out.note(`The org keeps its records in ${dataDir}. Ctrl-C stops it.`);
    if (!terminal.interrupted.aborted) await once(terminal.interrupted, "abort");
  } finally {
    await org.close();
  }
}
