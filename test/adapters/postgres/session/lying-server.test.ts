import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import {
  BROKEN,
  type Lie,
  OUT_OF_TURN,
  UNKNOWN_SIGN_INS,
  UNKNOWN_TYPES,
  WRONG_SCRAM,
} from "../../../support/doubles/backend-messages.ts";
import { type LyingPostgres, type Moment, startLyingPostgres } from "../../../support/doubles/lying-postgres.ts";
import { type LiedTo, openLiedTo } from "../../../support/processes/lied-to.ts";
import type { Met } from "../../../support/processes/meet-lies.ts";
import { createTestDatabase, type TestDatabase } from "../../../support/worlds/postgres.ts";

let database: TestDatabase;
let liedTo: LiedTo;
let servers: Readonly<Record<"plain" | "TLS", LyingPostgres>>;
beforeAll(async () => {
  database = await createTestDatabase();
  liedTo = openLiedTo(database.url);
  servers = { plain: await startLyingPostgres(), TLS: await startLyingPostgres({ tls: "on request" }) };
});
afterAll(async () => {
  await liedTo.close();
  for (const server of Object.values(servers)) await server.close();
  await database.close();
});

type Judge = (met: Met) => boolean;
/** The connection's error, which names the database as its cause. */
const isRefused: Judge = ({ error }) => error?.reason === "postgres_unavailable";
/** What may as well be an answer, or a refusal of the statement. */
const isSettled: Judge = (met) => met.error === null || isRefused(met);

/** All lies that came to something else than they should. */
async function wronglyMet(
  moment: Moment,
  way: keyof typeof servers,
  lies: readonly Lie[],
  isRight: Judge,
): Promise<string[]> {
  const server = servers[way];
  const url = `postgres://u:p@127.0.0.1:${server.port}/d?sslmode=${way === "TLS" ? "no-verify" : "disable"}`;
  const wrong: string[] = [];
  for (const { what, bytes } of lies) {
    server.lie(moment, bytes);
    const met = await liedTo.meet({ url, moment });
    if (typeof met === "string") wrong.push(`${what}: ${met}`);
    else if (!isRight(met) || !met.honest) wrong.push(`${what}: ${JSON.stringify(met)}`);
  }
  return wrong;
}

const WAYS = ["plain", "TLS"] as const; // the driver reads another stream with TLS

// `npm run attack` lies at each moment.
test.each(WAYS)(
  "a server that lies before the password breaks that connection alone, and harms nothing by a message out of turn: %s",
  async (way) => {
    const wrong = (lies: readonly Lie[], isRight: Judge) => wronglyMet("before the password", way, lies, isRight);
    expect(await wrong([...BROKEN, ...UNKNOWN_SIGN_INS, ...(way === "plain" ? UNKNOWN_TYPES : [])], isRefused)).toEqual(
      [],
    );
    if (way === "plain") expect(await wrong(OUT_OF_TURN, isSettled)).toEqual([]);
  },
);

test.each(WAYS)("a server that lies in its turns of SCRAM breaks that connection alone: %s", async (way) => {
  expect(await wronglyMet("in SCRAM", way, [...WRONG_SCRAM, ...UNKNOWN_SIGN_INS], isRefused)).toEqual([]);
});

test.each(["", "N", "E", "X", "Sx", "SS\u0016\u0003\u0001garbage", "HTTP/1.1 400 Bad Request\r\n\r\n"])(
  "a server that answers the request for TLS by %j breaks that connection alone",
  async (said) => {
    const server = createServer((socket) => {
      socket.on("error", () => undefined).once("data", () => socket.end(Buffer.from(said, "latin1")));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const url = `postgres://u:p@127.0.0.1:${(server.address() as AddressInfo).port}/d?sslmode=no-verify`;

    const met = await liedTo.meet({ url, moment: "before the password" });

    expect(met).toMatchObject({ error: { reason: "postgres_unavailable" }, honest: true });
  },
);
