import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import {
  BROKEN,
  columns,
  DONE,
  type Lie,
  message,
  OUT_OF_TURN,
  row,
  UNKNOWN_SIGN_INS,
  UNKNOWN_TYPES,
  WRONG_SCRAM,
} from "../../../support/doubles/backend-messages.ts";
import {
  type LyingPostgres,
  MOMENTS,
  type Moment,
  startLyingPostgres,
} from "../../../support/doubles/lying-postgres.ts";
import { type LiedTo, openLiedTo } from "../../../support/processes/lied-to.ts";
import type { Met } from "../../../support/processes/meet-lies.ts";
import { firstInGate, longTest } from "../../../support/run/whole-grid.ts";
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

const END = message("C", Buffer.from("SELECT 1\0"));

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

/** Where the server has its turns of SCRAM there is nothing else to lie about than these. */
const PLAIN_MOMENTS = MOMENTS.filter((moment) => moment !== "in SCRAM");
const WAYS = ["plain", "TLS"] as const;

/** With TLS the driver reads another stream, which is the same at all moments. */
const TLS_MOMENTS: readonly Moment[] = ["before the password", "after the password", "in a result", "in a copy"];

const LIES = PLAIN_MOMENTS.flatMap((moment) =>
  WAYS.filter((way) => way === "plain" || TLS_MOMENTS.includes(moment)).map((way) => ({ moment, way })),
);

test.each(firstInGate(2, LIES))(
  "a server that lies $moment breaks that connection alone, and harms nothing by a message out of turn: $way",
  async ({ moment, way }) => {
    const unknown = way === "plain" ? UNKNOWN_TYPES : [];
    expect(await wronglyMet(moment, way, [...BROKEN, ...UNKNOWN_SIGN_INS, ...unknown], isRefused)).toEqual([]);
    if (way === "plain") expect(await wronglyMet(moment, way, OUT_OF_TURN, isSettled)).toEqual([]);
  },
);

test.each(WAYS)("a server that lies in its turns of SCRAM breaks that connection alone: %s", async (way) => {
  expect(await wronglyMet("in SCRAM", way, [...WRONG_SCRAM, ...UNKNOWN_SIGN_INS], isRefused)).toEqual([]);
});

const ENDLESS: readonly [string, Moment, Buffer][] = [
  ["rows", "in a result", message("D", row("1"))],
  ["rows of a megabyte", "in a result", message("D", row("x".repeat(1_000_000)))],
  ["results of many columns", "in a result", Buffer.concat([message("T", columns(1664)), END])],
  ["settings", "before the password", message("S", Buffer.from("a\0b\0"))],
  ["ends of an answer", "between statements", DONE],
];

longTest.each(ENDLESS)(
  "a server that sends %s without an end breaks that connection alone, in little memory: %s",
  async (_, moment, bytes) => {
    const small = openLiedTo(database.url, { flags: ["--max-old-space-size=300"] });
    onTestFinished(small.close);
    servers.plain.lie(moment, bytes, true);
    const url = `postgres://u:p@127.0.0.1:${servers.plain.port}/d?sslmode=disable`;

    const met = await small.meet({ url, moment, statementMilliseconds: 30_000 });

    // The first end of an answer is the next statement's where that one was sent before it came.
    const isAnswered = moment === "between statements" && typeof met === "object" && met.error === null;
    expect(met).toMatchObject({ ...(!isAnswered && { error: { reason: "postgres_unavailable" } }), honest: true });
  },
);

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
