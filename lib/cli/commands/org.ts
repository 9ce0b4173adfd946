import { once } from "node:events";
import { resolve } from "node:path";
import { type Context, isSet, text, wholeNumber } from "../context.ts";
import { CommandFailure } from "../failure.ts";

/** Runs the embedded org until Ctrl-C, and prints how to sign in. */
export async function runOrg(context: Context): Promise<void> {
  const { machine, terminal, out } = context;
  const dataDir = resolve(terminal.folder, text(context, "dataDir") ?? ".bridge/org");
  const definition = text(context, "definition");
  const org = await machine
    .startOrg({
      dataDir,
      port: wholeNumber(context, "port") ?? 0,
      host: text(context, "host") ?? "127.0.0.1",
      tls: isSet(context, "tls"),
      definition: definition === null ? null : resolve(terminal.folder, definition),
      latency: text(context, "latency"),
      controls: isSet(context, "controls"),
    })
    .catch((error: Error) => {
      throw new CommandFailure("invalid", `the org did not start: ${error.message}`);
    });
  const { url, username, password, accessToken, clientId, clientSecret, certificate } = org;
  try {
    out.record({
      url,
      username,
      password,
      access_token: accessToken,
      client_id: clientId,
      client_secret: clientSecret,
      ...(certificate !== null && { certificate }),
    });
    out.note(`The org keeps its records in ${dataDir}. Ctrl-C stops it.`);
    if (!terminal.interrupted.aborted) await once(terminal.interrupted, "abort");
  } finally {
    await org.close();
  }
}
