import { BROKEN, OUT_OF_TURN, UNKNOWN_SIGN_INS, UNKNOWN_TYPES } from "../../support/doubles/backend-messages.ts";
import { type LyingPostgres, MOMENTS, startLyingPostgres } from "../../support/doubles/lying-postgres.ts";
import { openLiedTo } from "../../support/processes/lied-to.ts";
import { type Attacked, HANG_MILLISECONDS, inTime, type Part } from "./world.ts";

const LIES = [...UNKNOWN_SIGN_INS, ...BROKEN, ...OUT_OF_TURN, ...UNKNOWN_TYPES];

/**
 * A tenant's database server that lies at every moment by every message, first to a process of its own, then to Bridge by
 * the API: neither ends or hangs, and an honest tenant is served beside it.
 */
export const database: Part = async (world) => {
  const { bridge, doors, size } = world;
  const server = await startLyingPostgres();
  const hang = doors.database === "session" ? HANG_MILLISECONDS : HANG_MILLISECONDS / 10;
  const liedTo = openLiedTo(bridge.database.url, { door: doors.database, hang });
  const planned = MOMENTS.flatMap((moment) => LIES.map((lie) => ({ ...lie, moment }))).filter(
    (_, at) => at % size.every === 0,
  );
  const findings: string[] = [];
  try {
    for (const { moment, what, bytes } of planned) {
      server.lie(moment, bytes);
      const met = await liedTo.meet({ url: urlOf(server), moment });
      if (typeof met === "string") findings.push(`${moment}, ${what}: the process ${met}`);
      else if (!met.honest) findings.push(`${moment}, ${what}: an honest database was not read beside it`);
      if (findings.length >= 3) break; // each may take a minute
    }
    // What ends a process must not be tried in this one.
    if (findings.length === 0) findings.push(...(await byTheApi(world, server, planned)));
  } finally {
    await liedTo.close();
    await server.close();
  }
  return { tried: planned.length, findings };
};

const urlOf = ({ port }: LyingPostgres) => `postgres://u:p@127.0.0.1:${port}/d?sslmode=disable`;

async function byTheApi(
  { bridge, ask }: Attacked,
  server: LyingPostgres,
  planned: readonly { readonly moment: (typeof MOMENTS)[number]; readonly what: string; readonly bytes: Buffer }[],
): Promise<string[]> {
  const findings: string[] = [];
  const liar = await bridge.createWorkspace("liar");
  for (const { moment, what, bytes } of planned.filter((_, at) => at % 10 === 0)) {
    server.lie(moment, bytes);
    const [met, honest] = await Promise.all([
      inTime(
        bridge.request("PUT", `/api/v1/t/${liar.id}/connections/postgres?dry_run=true`, {
          token: liar.token,
          body: { url: urlOf(server), schema: "salesforce" },
        }),
        HANG_MILLISECONDS,
      ),
      inTime(ask("GET", "/monitoring/activity"), HANG_MILLISECONDS),
    ]);
    if (typeof met === "string") findings.push(`${moment}, ${what}: ${met}`);
    else if (met.status === 500) findings.push(`${moment}, ${what}: Bridge takes it for a fault of its own`);
    if (typeof honest === "string" || honest.status !== 200)
      findings.push(`${moment}, ${what}: another tenant was not served`);
  }
  return findings;
}
