import { execFile } from "node:child_process";
import diagnostics from "node:diagnostics_channel";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { refuseAddress } from "../../../lib/adapters/webhook-client/addresses.ts";
import { urlGuard } from "../../../lib/adapters/webhook-client/guard.ts";
import { webhookSender } from "../../../lib/adapters/webhook-client/post.ts";
import { resolveByDns } from "../../../lib/adapters/webhook-client/resolve.ts";
import { type AddressPolicy, DEVELOPMENT, judgeUrl, PRODUCTION, refuseOpening } from "../../../lib/model/address.ts";
import { type DnsServer, startDnsServer } from "../../support/doubles/dns-server.ts";

/** As in production, but without the rules that are before the address: only the guard of addresses is left. */
const PUBLIC_ONLY: AddressPolicy = { schemes: ["https:", "http:"], ports: null, loopback: false, opened: [] };

/** One of this machine's addresses represents a public receiver. */
const ONE_OPEN: AddressPolicy = { ...PUBLIC_ONLY, opened: ["127.0.0.1/32"] };

const PUBLIC = "93.184.215.14";

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

const BLOCKED_ADDRESSES = words(`
  0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.0 100.64.0.1 100.127.255.255 127.0.0.1 127.0.0.53 127.255.255.254
  169.254.0.1 169.254.169.254 169.254.170.2 172.16.0.1 172.31.255.255 192.0.0.1 192.0.0.192 192.0.2.1 192.88.99.1
  192.168.0.1 192.168.255.255 198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.9 224.0.0.1 168.63.129.16 192.31.196.1
  192.31.196.255 192.52.193.1 192.175.48.1 192.175.48.255 233.252.0.1 239.255.255.255 240.0.0.1 255.255.255.254
  255.255.255.255 :: ::1 ::7f00:1 ::a9fe:a9fe ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:a9fe:a9fe ::ffff:0:7f00:1
  64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b::8.8.8.8 64:ff9b:1::1 100::1 2001::1 2001:0:53aa:64c:0:0:80ff:fffe
  2001:2::1 2001:10::1 2001:20::1 2001:db8::1 2002:7f00:1::1 2002:a9fe:a9fe::1 2002:808:808::1 3fff::1 4000::1 5f00::1
  fc00::1 fd00:ec2::254 fdff:ffff::1 fe80::1 febf::1 fec0::1 ff02::1 ff0e::1 8000::1 2001:1::1 2001:3::1 2001:4:112::1
  2001:30::1 2620:4f:8000::1 2620:4f:8000:ffff::1 2a00:1450:4001:81b:0:5efe:7f00:1 2a00:1450:4001:81b:200:5efe:a00:1`);

const ALLOWED_ADDRESSES = words(`
  1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.1 100.63.255.254 100.128.0.1 126.255.255.255 128.0.0.1 169.253.255.255 169.255.0.1
  172.15.255.255 172.32.0.1 191.255.255.255 192.0.1.1 192.0.3.1 192.167.255.255 192.169.0.1 198.17.255.255 198.20.0.1
  223.255.255.255 168.63.129.15 168.63.129.17 192.31.195.255 192.31.197.0 192.52.192.255 192.52.194.0 192.175.47.255
  192.175.49.0 2620:4f:7fff:ffff::1 2620:4f:8001::1 ::ffff:8.8.8.8 2606:4700:4700::1111 2a00:1450:4001:81b::200e
  2001:4860:4860::8888 2003::1 ${PUBLIC}`);

/** Spellings of this machine and of metadata services that URL parsers understand. `PORT` is the listener's. */
const BLOCKED_URLS = [
  ...words(`
    127.0.0.1 127.1 127.0.1 2130706433 0x7f000001 0x7f.1 0x7f.0x0.0x0.0x1 017700000001 0177.0.0.1 0177.1 ①②⑦.⓪.⓪.①
    127。0。0。1 127．0．0．1 １２７.0.0.1 127.0.0.1. 0 0.0.0.0 00000000000 127.0.0.2 127.8.9.10 localhost LOCALHOST
    localhost. localhost.. a.localhost ｌocalhost [::1] [0:0:0:0:0:0:0:1] [::] [::ffff:127.0.0.1] [::ffff:7f00:1]
    [::7f00:1] [64:ff9b::127.0.0.1] [2002:7f00:1::] [::ffff:0:127.0.0.1] user@127.0.0.1 user:password@127.0.0.1
    example.com@127.0.0.1 127%2E0%2E0%2E1`).map((host) => `http://${host}:PORT/`),
  ...words(`
    169.254.169.254 [::ffff:169.254.169.254] [::ffff:a9fe:a9fe] [fd00:ec2::254] 2852039166 0xa9fea9fe
    0251.0376.0251.0376 169.254.43518 [64:ff9b::a9fe:a9fe]`).map((host) => `http://${host}/latest/meta-data/`),
  ...words(String.raw`
    http://127.0.0.1:PORT\@example.com/ http:\\127.0.0.1:PORT/ http:/127.0.0.1:PORT/ http:127.0.0.1:PORT/
    HTTP://127.0.0.1:PORT/ https://127.0.0.1:PORT/ https://localhost:PORT/ ftp://127.0.0.1:PORT/ file:///etc/passwd
    gopher://127.0.0.1:PORT/ data:text/plain,hi ws://127.0.0.1:PORT/ javascript:alert(1) unix:///var/run/docker.sock
    //127.0.0.1:PORT/ 127.0.0.1:PORT http:// http://[::1`),
  ...["\thttp://127.0.0.1:PORT/ ", "http://127.0.0\n.1:PORT/", ""],
];

/** Names and what the DNS says of them; each must be refused though the name itself says nothing. */
const ZONE = {
  "private.test": ["10.0.0.1"],
  "loopback.test": ["127.0.0.1"],
  "metadata.test": ["169.254.169.254"],
  "six-private.test": ["fd00::1"],
  "six-mapped.test": ["::ffff:127.0.0.1"],
  "six-nat64.test": ["64:ff9b::7f00:1"],
  "public-and-private-six.test": [PUBLIC, "fd00::1"],
  "mixed.test": [PUBLIC, "127.0.0.1"],
  "mixed-last.test": [PUBLIC, PUBLIC, PUBLIC, "10.1.1.1"],
  "alias.test": { alias: "loopback.test" },
  "long-alias.test": { alias: "alias.test" },
  "alias-to-mixed.test": { alias: "mixed.test" },
  "none.test": [],
  "silent.test": "silent",
  // Public when it is checked, this machine when the attempt comes.
  "rebinding.test": (question: number) => (question === 1 ? [PUBLIC] : ["127.0.0.1"]),
} as const;

const REDIRECTS = [300, 301, 302, 303, 307, 308].flatMap((status) =>
  ["http://127.0.0.1:PORT/", "//[::1]:PORT/", "/elsewhere", "http://169.254.169.254/"].map((to) => ({ status, to })),
);

let dns: DnsServer;
let listener: Server;
let port: number;
let accepted = 0;
let opened = 0;

beforeAll(async () => {
  dns = await startDnsServer(ZONE);
  listener = createServer((request, response) => {
    const redirect = REDIRECTS[Number(request.url?.slice(1))];
    if (!redirect) return response.writeHead(200).end();
    return response.writeHead(redirect.status, { location: redirect.to.replace("PORT", String(port)) }).end();
  });
  listener.on("connection", () => {
    accepted += 1;
  });
  listener.listen(0, "::");
  await once(listener, "listening");
  port = (listener.address() as AddressInfo).port;
  diagnostics.subscribe("net.client.socket", () => {
    opened += 1;
  });
});

beforeEach(() => {
  accepted = 0;
  opened = 0;
});

afterAll(async () => {
  await dns.close();
  listener.close();
});

const post = (url: string, policy: AddressPolicy) =>
  webhookSender({ policy, resolve: resolveByDns([dns.address]) }).post({
    url: url.replace("PORT", String(port)),
    headers: {},
    body: "{}",
  });

test("each public address can be reached, and each other one can't, nor what is no address", () => {
  const refused = (addresses: readonly string[]) => addresses.filter((one) => refuseAddress(one, PRODUCTION) !== null);
  const none = ["", "localhost", "1.2.3", "1.2.3.4.5", "::g", "fe80::1%eth0", "[::1]"];

  expect(refused([...BLOCKED_ADDRESSES, ...none])).toEqual([...BLOCKED_ADDRESSES, ...none]);
  expect(refused(ALLOWED_ADDRESSES)).toEqual([]);
});

describe("no connection is opened", () => {
  test("to any spelling of a blocked address, nor to a name that resolves to one", async () => {
    const literals = BLOCKED_ADDRESSES.map((address) => (address.includes(":") ? `[${address}]` : address));
    const names = Object.keys(ZONE).filter((name) => name !== "silent.test" && name !== "rebinding.test");
    for (const url of [...BLOCKED_URLS, ...literals.map((host) => `http://${host}:PORT/`)]) {
      const answer = await post(url, PUBLIC_ONLY);

      expect([url, answer.code, answer.problem]).toEqual([url, null, expect.stringMatching(/^refused: the URL /)]);
    }
    for (const name of names)
      expect([name, (await post(`http://${name}:PORT/`, PUBLIC_ONLY)).code]).toEqual([name, null]);
    expect({ accepted, opened }).toEqual({ accepted: 0, opened: 0 });
  });

  test("to a name that was public when it was saved and is this machine now", async () => {
    const guard = urlGuard(PUBLIC_ONLY, resolveByDns([dns.address]));
    const url = `http://rebinding.test:${port}/`;

    const saved = await guard(url);
    const answer = await post(url, PUBLIC_ONLY);

    expect(saved).toBeNull();
    expect(answer.problem).toBe("refused: the URL points to a loopback address");
    expect({ accepted, opened }).toEqual({ accepted: 0, opened: 0 });
  });

  test("but to the very addresses that were judged, whatever the machine's own resolver says of the name", async () => {
    const answer = await post("http://loopback.test:PORT/hooks", ONE_OPEN);

    expect({ code: answer.code, accepted, opened }).toEqual({ code: 200, accepted: 1, opened: 1 });
  });

  test("to where a redirect leads", async () => {
    for (const [at, { status }] of REDIRECTS.entries()) {
      const answer = await post(`http://127.0.0.1:PORT/${at}`, ONE_OPEN);

      expect(answer.code).toBe(status);
    }
    expect({ accepted, opened }).toEqual({ accepted: REDIRECTS.length, opened: REDIRECTS.length });
  });

  test("to a proxy that the environment names, though Node itself would use it", async () => {
    const sender = join(import.meta.dirname, "../../../lib/adapters/webhook-client/post.ts");
    const program = `
      const { webhookSender } = await import(${JSON.stringify(sender)});
      const http = await import("node:http");
      const url = "http://127.0.0.1:${port}/plain";
      const plain = await new Promise((done) => http.get(url, (answer) => done(answer.statusCode)).on("error", (e) => done(e.code)));
      const ours = await webhookSender({ policy: ${JSON.stringify(ONE_OPEN)} }).post({ url, headers: {}, body: "{}" });
      console.log(JSON.stringify([plain, ours.code]));`;
    const env = {
      ...process.env,
      NODE_USE_ENV_PROXY: "1",
      HTTP_PROXY: "http://127.0.0.1:1",
      NO_PROXY: "",
      no_proxy: "",
    };

    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program], { env });

    expect(JSON.parse(stdout)).toEqual(["ECONNREFUSED", 200]);
  });
});

describe("saving", () => {
  test.each([
    ["http://example.com/", "must begin with https://"],
    ["https://example.com:8443/", "must use port 443"],
    ["https://user@example.com/", "must not carry a user name or password"],
    ["https://:secret@example.com/", "must not carry a user name or password"],
    ["https://localhost/", "points to a loopback address"],
    ["https://intranet/", "must name its host in full, like hooks.example.com"],
    ["https://db.internal/", "names a host of a private network"],
    ["https://metadata.google.internal/", "names a host of a private network"],
    ["https://printer.local/", "names a host of a private network"],
    [`https://example.com/${"x".repeat(2048)}`, "is longer than 2048 characters"],
    ["https://hooks.example.com/a?b=c", null],
  ])("in production %.40s %s", (url, refused) => {
    expect(judgeUrl(url, PRODUCTION).refused).toBe(refused);
  });

  test("in development plain HTTP, any port and this machine are allowed, private networks are not", async () => {
    const guard = urlGuard(DEVELOPMENT, resolveByDns([dns.address]));

    expect(await guard("http://localhost:3000/hooks")).toBeNull();
    expect(await guard("http://127.0.0.1:3000/hooks")).toBeNull();
    expect(await guard("http://10.0.0.1/")).toBe("points to a private address (RFC 1918)");
    expect(await guard("http://169.254.169.254/")).toBe("points to a link-local or metadata address");
  });

  test("what is kept is the URL as it was understood, not as it was typed", () => {
    expect(judgeUrl("https://exa\nmple.com\\@169.254.169.254/", PRODUCTION).url?.href).toBe(
      "https://example.com/@169.254.169.254/",
    );
  });

  test("a name that does not resolve yet can be saved, one that leads to a private address can't", async () => {
    const guard = urlGuard(PRODUCTION, resolveByDns([dns.address]));

    expect(await guard("https://unknown.test/")).toBeNull();
    expect(await guard("https://mixed.test/")).toBe("points to a loopback address");
  });
});

describe("what an operator can open", () => {
  test("is a private range, and then its addresses are reached", () => {
    for (const text of [
      "",
      ...words("10.0.0.0 10.0.0.0/33 10.0/16 010.0.0.0/8 0xa.0.0.0/8 300.0.0.0/16 fd00::/129 a/8"),
    ])
      expect(refuseOpening(text)).toBe(`"${text}" is not a range of addresses like 10.0.0.0/16`);
    for (const range of words(`10.0.0.0/8 10.20.0.0/16 172.16.0.0/12 172.31.5.0/24 192.168.1.7/32 100.64.0.0/10
        198.19.0.0/16 fc00::/7 fd12:3456:789a::/48`))
      expect(refuseOpening(range)).toBeNull();
    const opened = { ...PRODUCTION, opened: ["10.1.0.0/16", "fc00::/7"] };
    const addresses = ["10.1.2.3", "::ffff:10.1.2.3", "fd00:db8::1", "fd00:ec2::254", "10.2.2.3"];
    expect(addresses.map((address) => refuseAddress(address, opened))).toEqual([
      ...[null, null, null, "a metadata address", expect.any(String)],
    ]);
  });

  const public_ = "it is not private, and public addresses are reached without it";
  test.each([
    ["127.0.0.0/8", "it is a loopback address"],
    ["::1/128", "it is a loopback address"],
    ["169.254.0.0/16", "it is a link-local or metadata address"],
    ["fd00:ec2::/64", "it is a metadata address"],
    ["168.63.129.16/32", "it is Azure's platform service"],
    ["10.0.0.0/7", public_],
    ["0.0.0.0/0", public_],
    ["::/0", public_],
    ["fc00::/6", public_],
  ])("%s is refused: %s", (range, why) => {
    expect(refuseOpening(range)).toBe(
      `${range} can't be opened: ${why}. Only private ranges can: ` +
        "10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 100.64.0.0/10, 198.18.0.0/15, fc00::/7 and what lies in them",
    );
  });

  test("a process with such a range in its environment does not start", async () => {
    vi.stubEnv("OPENED_RANGES", "10.0.0.0/16,169.254.0.0/16");
    // Another test file may have loaded it in this process.
    const another: string = "../../../functions/services/composition.ts?another";

    await expect(import(another)).rejects.toThrow(
      "OPENED_RANGES: 169.254.0.0/16 can't be opened: it is a link-local or metadata address",
    );
    vi.unstubAllEnvs();
  });
});
