/** IPv4 addresses that nothing of ours may reach in production. */
const TARGETS = [
  ...["127.0.0.1", "127.0.0.53", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.0.1", "100.64.0.1", "169.254.169.254"],
  ...["169.254.170.2", "168.63.129.16", "192.0.0.192", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255"],
];

const octal = (number: number) => `0${number.toString(8)}`;
const hex = (number: number) => `0x${number.toString(16)}`;
const wide = (text: string) => text.replace(/\d/g, (digit) => String.fromCharCode(digit.charCodeAt(0) + 0xfee0));

/** One address in every spelling that a URL parser, a resolver or an IPv6 address may take it in. */
function spellings(address: string): readonly string[] {
  const bytes = address.split(".").map(Number);
  const [a = 0, b = 0, c = 0, d = 0] = bytes;
  const number = ((a * 256 + b) * 256 + c) * 256 + d;
  const words = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  return [
    ...[address, `${address}.`, `${number}`, hex(number), octal(number), hex(number).toUpperCase().replace("X", "x")],
    ...[bytes.map(hex).join("."), bytes.map(octal).join("."), `${hex(a)}.${octal(b)}.${c}.${d}`],
    ...[`${a}.${b}.${c * 256 + d}`, `${a}.${(b * 256 + c) * 256 + d}`, `${octal(a)}.${(b * 256 + c) * 256 + d}`],
    ...[
      wide(address),
      address.replaceAll(".", "。"),
      address.replaceAll(".", "%2E"),
      `%3${String(a).slice(0, 1)}${address.slice(1)}`,
    ],
    ...[`user:password@${address}`, `example.com@${address}`, `${address}\\@example.com`, `exam\nple@${address}`],
    ...[`[::ffff:${address}]`, `[::ffff:${words}]`, `[::${words}]`, `[::ffff:0:${address}]`, `[64:ff9b::${address}]`],
    ...[
      `[64:ff9b:1::${words}]`,
      `[2002:${words}::1]`,
      `[2001:0:53aa:64c::${words}]`,
      `[2a00:1450:4001:81b:0:5efe:${words}]`,
    ],
  ];
}

const OTHERS = [
  ...["[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[fc00::1]", "[fd00:ec2::254]", "[fdff:ffff::1]", "[fe80::1]", "[febf::1]"],
  ...["[fec0::1]", "[ff02::1]", "[100::1]", "[2001:db8::1]", "[2001:10::1]", "[3fff::1]", "[5f00::1]", "[4000::1]"],
  ...["localhost", "LOCALHOST", "localhost.", "a.localhost", "ｌocalhost", "intranet", "db.internal", "printer.local"],
  ...["metadata.google.internal", "[::1", "", "①②⑦.⓪.⓪.①", "127.0.0.1:8080", "example.com:22"],
];

const PUBLIC = "93.184.215.14";

/** Names, and where the DNS says that they lead. */
export const ZONE = {
  "private.test": ["10.0.0.1"],
  "loopback.test": ["127.0.0.1"],
  "metadata.test": ["169.254.169.254"],
  "six.test": ["::1"],
  "six-metadata.test": ["fd00:ec2::254"],
  "six-mapped.test": ["::ffff:127.0.0.1"],
  "six-nat64.test": ["64:ff9b::7f00:1"],
  "zero.test": ["0.0.0.0"],
  "mixed.test": [PUBLIC, "127.0.0.1"],
  "mixed-six.test": [PUBLIC, "fd00::1"],
  "alias.test": { alias: "loopback.test" },
  "long-alias.test": { alias: "alias.test" },
  "127.0.0.1.nip.test": ["127.0.0.1"],
  "rebinding.test": (question: number) => (question === 1 ? [PUBLIC] : ["127.0.0.1"]),
} as const;

/** Hosts as a user would write them into a URL; none may be reached. */
export const HOSTS: readonly string[] = [...TARGETS.flatMap(spellings), ...OTHERS, ...Object.keys(ZONE)];

/**
 * The same, as a database's or an org's host that the system's resolver reads on its own; with a dot at its end it would
 * ask the DNS, which is another machine.
 */
export const NUMERIC_HOSTS: readonly string[] = TARGETS.flatMap((address) =>
  spellings(address)
    .slice(0, 12)
    .filter((host) => !host.endsWith(".")),
);
