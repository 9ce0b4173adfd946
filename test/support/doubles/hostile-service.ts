import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { ROUTES } from "../../../lib/http/routes.ts";

/** What steers a terminal, each kind once. */
export const STEERING = [
  "\u001b]0;title\u0007", // OSC, ended by BEL
  "\u001b]8;;https://evil.example\u001b\\link\u001b]8;;\u001b\\", // a link that says something else
  "\u001b]52;c;ZXZpbA==\u0007", // the clipboard
  "\u001b[3J\u001b[41;5m\u001b[8m", // CSI: clears, blinks, hides
  "\u001bP+q544e\u001b\\", // DCS, which the terminal answers
  "\u001bc", // a reset
  "\u009b3J\u009d0;title\u009c", // the same in eight bits: CSI, OSC, ST
  "\b\b\b\rFORGED", // writes over what is there
  "\nFORGED\r\nFORGED\u0085FORGED\u2028FORGED\u2029FORGED\u000bFORGED\u000cFORGED", // a line of its own
  "\u202eevil\u202c\u2066evil\u2069\u200f\u200e\u061c", // another direction
  "\u0000\u007f",
];

/** A word by which foreign text is recognised, and everything that steers. */
export const EVIL = `EVIL${STEERING.join("x")}`;

/** Keys of what neither an org nor a database can name. */
const OURS = /(^|_)(id|at|by_id)$|^(sfid|state|status|action|mark|digest|kind|reading|check|event|scopes|events|next)$/;

/** The same document with hostile text in every place that an org, a database or another user fills. */
export function hostile(value: unknown, key = ""): unknown {
  if (key === "next") return null;
  if (key === "more") return false;
  if (Array.isArray(value)) return value.map((one) => hostile(one, key));
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, hostile(one, name)]));
  if (typeof value !== "string" || OURS.test(key) || /^\d{4}-\d\d-\d\dT/.test(value)) return value;
  return `${value} ${EVIL}`;
}

export type HostileService = Awaited<ReturnType<typeof startHostileService>>;

type Examples = Readonly<Record<string, { readonly response: { readonly data: unknown } }>>;

/** The API and an org; every endpoint is answered by its example, with hostile text. */
export async function startHostileService() {
  const examples = JSON.parse(readFileSync("lib/http/openapi/examples.json", "utf8")) as Examples;
  const endpoints = Object.entries(ROUTES).map(([name, { method, path }]) => ({
    is: new RegExp(`^${method} ${path.replace(/\{\w+\}/g, "[^/]+")}$`),
    answer: { ...examples[name]?.response, ...(hostile({ data: examples[name]?.response.data ?? {} }) as object) },
  }));
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "", "http://localhost");
    const headers = { "Content-Type": "application/json", "Bridge-Cycle": "cyc_1" };
    const [status, body] = answerTo(`${request.method} ${pathname}`);
    request.resume().on("end", () => response.writeHead(status, headers).end(JSON.stringify(body)));
  });
  const answerTo = (call: string): readonly [number, unknown] => {
    if (call.includes("/services/data/"))
      return service.refuses
        ? [400, [{ message: EVIL, errorCode: EVIL }]]
        : [200, { totalSize: 1, records: [{ attributes: {}, LastName: EVIL, [EVIL]: 1 }] }];
    const refusal = { code: EVIL, message: EVIL, details: [{ path: EVIL, message: EVIL }] };
    if (service.refuses) return [400, { success: false, error: refusal }];
    return [200, endpoints.find(({ is }) => is.test(call))?.answer ?? { success: true, data: [] }];
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const service = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Every request is refused in hostile words. */
    refuses: false,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return service;
}

/** What the command line writes of its own: colours, a line that replaces itself, an empty screen. */
const OWN = new RegExp(
  ["\u001b\\[(?:1|2|22|31|32|33|36|39)m", "\r\u001b\\[2K", "\u001b\\[H\u001b\\[2J"].join("|"),
  "g",
);

const STEERS = /[^\P{Cc}\n\t]|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;

/** How a text would steer a terminal; null: it does not. */
export function steeringIn(text: string): string | null {
  const shown = text.replace(OWN, "");
  const [sign] = STEERS.exec(shown) ?? [];
  if (sign !== undefined) return `U+${sign.codePointAt(0)?.toString(16).padStart(4, "0")} is written as it is`;
  return /^\s*FORGED/m.test(shown) ? "a line of another's own is written" : null;
}
