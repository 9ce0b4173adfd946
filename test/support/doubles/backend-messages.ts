/*
 * Messages of a server, as PostgreSQL's documentation has them ("Message Formats"), right and wrong.
 */

/** A message with the length that it has, or with another. */
export function message(type: string | number, body: Buffer, length = body.length + 4): Buffer {
  const header = Buffer.alloc(5);
  header[0] = typeof type === "string" ? type.charCodeAt(0) : type;
  header.writeInt32BE(length | 0, 1);
  return Buffer.concat([header, body]);
}

const int16 = (value: number) => Buffer.from([(value >> 8) & 0xff, value & 0xff]);
const int32 = (value: number) => Buffer.concat([int16(value >> 16), int16(value)]);
const text = (value: string) => Buffer.from(`${value}\0`);

/** So many columns named `one`, of type integer. */
const columns = (many: number, announced = many): Buffer =>
  Buffer.concat([
    int16(announced),
    ...Array.from({ length: many }, () =>
      Buffer.concat([text("one"), int32(0), int16(0), int32(23), int16(4), int32(-1), int16(0)]),
    ),
  ]);

export const row = (value: string, announced = 1, length = value.length): Buffer =>
  Buffer.concat([int16(announced), int32(length), Buffer.from(value)]);

export const authentication = (type: number, rest: Buffer = Buffer.alloc(0)): Buffer =>
  Buffer.concat([int32(type), rest]);

/** The answer to COPY, for so many columns. */
const copying = (columnCount: number): Buffer => Buffer.concat([Buffer.from([0]), int16(columnCount), int16(0)]);

export const refusal = (state = "42P01"): Buffer =>
  Buffer.concat([...["SERROR", `C${state}`, "Mno"].map(text), Buffer.from([0])]);

/** What an honest server says until it is ready, and the two ends of an answer. */
export const WELCOME = Buffer.concat([
  message("R", authentication(0)),
  message("S", Buffer.concat([text("server_version"), text("17.0")])),
  message("K", Buffer.concat([int32(1), int32(2)])),
  message("Z", Buffer.from("I")),
]);
export const READY = message("Z", Buffer.from("I"));
export const DONE = Buffer.concat([message("C", text("SELECT 1")), READY]);
export const ONE_ROW = Buffer.concat([message("T", columns(1)), message("D", row("1"))]);
export const COPY_IN = message("G", copying(1));
export const SCRAM = message("R", authentication(10, Buffer.concat([text("SCRAM-SHA-256"), Buffer.from([0])])));

/** Every message type of the protocol's part of the server, by its letter; some have several shapes. */
const RIGHT: readonly (readonly [name: string, letter: string, body: Buffer])[] = [
  ["AuthenticationOk", "R", authentication(0)],
  ["AuthenticationCleartextPassword", "R", authentication(3)],
  ["AuthenticationMD5Password", "R", authentication(5, int32(7))],
  ["AuthenticationSASL", "R", SCRAM.subarray(5)],
  ["AuthenticationSASLContinue", "R", authentication(11, Buffer.from("r=a,s=aaaa,i=4096"))],
  ["AuthenticationSASLFinal", "R", authentication(12, Buffer.from("v=aaaa"))],
  ["BackendKeyData", "K", Buffer.concat([int32(1), int32(2)])],
  ["BindComplete", "2", Buffer.alloc(0)],
  ["CloseComplete", "3", Buffer.alloc(0)],
  ["CommandComplete", "C", text("SELECT 1")],
  ["CopyData", "d", Buffer.from("1\n\0")],
  ["CopyDone", "c", Buffer.alloc(0)],
  ["CopyInResponse", "G", copying(1)],
  ["CopyOutResponse", "H", copying(1)],
  ["CopyBothResponse", "W", copying(1)],
  ["DataRow", "D", row("1")],
  ["EmptyQueryResponse", "I", Buffer.alloc(0)],
  ["ErrorResponse", "E", refusal()],
  ["FunctionCallResponse", "V", Buffer.concat([int32(1), Buffer.from("1")])],
  ["NegotiateProtocolVersion", "v", Buffer.concat([int32(0), int32(0)])],
  ["NoData", "n", Buffer.alloc(0)],
  ["NoticeResponse", "N", refusal()],
  ["NotificationResponse", "A", Buffer.concat([int32(1), text("a"), text("b")])],
  ["ParameterDescription", "t", Buffer.concat([int16(1), int32(23)])],
  ["ParameterStatus", "S", Buffer.concat([text("a"), text("b")])],
  ["ParseComplete", "1", Buffer.alloc(0)],
  ["PortalSuspended", "s", Buffer.alloc(0)],
  ["ReadyForQuery", "Z", Buffer.from("I")],
  ["RowDescription", "T", columns(1)],
];

/** Bytes that a server sends, and what they are. */
export interface Lie {
  readonly what: string;
  readonly bytes: Buffer;
}

/** Whole messages as they should be, which come when they should not. */
export const OUT_OF_TURN: readonly Lie[] = RIGHT.map(([name, letter, body]) => ({
  what: `${name} out of turn`,
  bytes: message(letter, body),
}));

/** Every type with every length that is none: 0 to 3, one less and one more than it has, huge, negative. */
const WRONG_LENGTHS: readonly Lie[] = RIGHT.flatMap(([name, letter, body]) =>
  [0, 1, 2, 3, body.length + 3, body.length + 5, 0x7fffffff, -1, -(2 ** 31)].map((length) => ({
    what: `${name} of length ${length}`,
    bytes: message(letter, body, length),
  })),
);

/** Counts, lengths and texts inside of messages that their bytes do not hold. */
const WRONG_BODIES: readonly Lie[] = (
  [
    ...[0, 2, -1, 32_767].flatMap((many): [string, string, Buffer][] => [
      [`a row of one value that announces ${many}`, "D", row("1", many)],
      [`columns of one that announce ${many}`, "T", columns(1, many)],
      [`a COPY in of one column that announces ${many}`, "G", copying(many)],
      [`a COPY out of one column that announces ${many}`, "H", copying(many)],
      [`parameters of one that announce ${many}`, "t", Buffer.concat([int16(many), int32(23)])],
    ]),
    ...[0, 2, -2, 0x7fffffff, -(2 ** 31)].map((length): [string, string, Buffer] => [
      `a value of one byte that announces ${length}`,
      "D",
      row("1", 1, length),
    ]),
    ["a negative number of columns", "T", int16(-1)],
    ["a negative number of values", "D", int16(-1)],
    ["more columns than PostgreSQL has", "T", columns(1665)],
    ["a row of two values for one column", "D", Buffer.concat([int16(2), int32(-1), int32(-1)])],
    ["an error that does not end", "E", Buffer.from("S")],
    ["an error without its last byte", "E", refusal().subarray(0, -1)],
    ["an error that ends within", "E", Buffer.concat([refusal(), refusal()])],
    ["an error without fields", "E", Buffer.from([0])],
    ["an error of a SQLSTATE that is none", "E", refusal("EHOSTREFUSED")],
    ["an error of the empty SQLSTATE", "E", refusal("")],
    ["an error of a million fields", "E", Buffer.concat([Buffer.from("M\0".repeat(1_000_000)), Buffer.from([0])])],
    ["a notice that does not end", "N", Buffer.from("S")],
    ["a notice of a million fields", "N", Buffer.concat([Buffer.from("M\0".repeat(1_000_000)), Buffer.from([0])])],
    ["a command's end without its zero", "C", Buffer.from("SELECT 1")],
    ["a parameter without a value", "S", text("a")],
    ["a parameter without zeros", "S", Buffer.from("ab")],
    ["a notification without its payload", "A", Buffer.concat([int32(1), text("a")])],
    ["ready in a state that there is not", "Z", Buffer.from("X")],
    ["a SASL list that does not end", "R", authentication(10, text("SCRAM-SHA-256"))],
    ["a SASL list without a zero", "R", authentication(10, Buffer.from("SCRAM-SHA-256"))],
    ["a parameter of two megabytes", "S", Buffer.concat([text("a"), text("b".repeat(2_000_000))])],
  ] satisfies [string, string, Buffer][]
).map(([what, letter, body]) => ({ what, bytes: message(letter, body) }));

/** Messages that keep the protocol nowhere, wherever they come. */
export const BROKEN: readonly Lie[] = [...WRONG_LENGTHS, ...WRONG_BODIES];

/** First bytes that no message of a server has. */
export const UNKNOWN_TYPES: readonly Lie[] = Array.from({ length: 256 }, (_, type) => type)
  .filter((type) => !RIGHT.some(([, letter]) => letter.charCodeAt(0) === type))
  .map((type) => ({ what: `type ${type}`, bytes: message(type, Buffer.from("x")) }));

/** Ways to sign in that the driver does not have, with a body and without. */
export const UNKNOWN_SIGN_INS: readonly Lie[] = [1, 2, 4, 6, 7, 8, 9, 13, 255, -1].flatMap((type) =>
  ["", "token"].map((rest) => ({
    what: `authentication of type ${type}${rest && " with a body"}`,
    bytes: message("R", authentication(type, Buffer.from(rest))),
  })),
);

/** What a server says in its turns of SCRAM, where it should give a nonce, a salt and a count, and then prove itself. */
export const WRONG_SCRAM: readonly Lie[] = [
  ...["", "x", "r=", "r=a,s=,i=1", "r=a,s=aaaa,i=0", "r=a,s=aaaa,i=999999999", "e=other-error"].map((said) => ({
    what: `SCRAM's first ${JSON.stringify(said)}`,
    bytes: message("R", authentication(11, Buffer.from(said))),
  })),
  ...["", "v=", "v=aaaa", "e=invalid-proof"].map((said) => ({
    what: `SCRAM's last ${JSON.stringify(said)}`,
    bytes: message("R", authentication(12, Buffer.from(said))),
  })),
  {
    what: "SCRAM's first a hundred times",
    bytes: Buffer.concat(
      Array.from({ length: 100 }, () => message("R", authentication(11, Buffer.from("r=a,s=aaaa,i=4096")))),
    ),
  },
];
