/**
 * Makes examples of answers: what differs from one instance to the next (ids, times, addresses, secrets, durations) is
 * replaced by samples, the same value by the same one, and lists are shortened.
 */
export function exampleOf(): (value: unknown) => unknown {
  const samples = new Map<string, string>();
  const sampled = (kind: string, text: string, make: (number: number) => string): string => {
    const key = `${kind} ${text}`;
    const known = samples.get(key);
    if (known !== undefined) return known;
    const number = [...samples.keys()].filter((one) => one.startsWith(`${kind} `)).length + 1;
    samples.set(key, make(number));
    return samples.get(key) ?? "";
  };
  const digits = (number: number) => String(number).padStart(3, "0");

  const text = (given: string): string =>
    given
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "2026-03-01T12:00:00.000Z")
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\dZ/g, "2026-03-01T12:00Z")
      .replace(/\btest_[0-9a-f]{32}\b/g, "acme")
      .replace(/\bowner_[0-9a-f]{32}\b/g, "bridge")
      .replace(/\bbrg_\w+/g, "brg_…")
      .replace(/^postgres(ql)?:\S+$/, "postgres://bridge:…@db.example.com:5432/acme")
      // What a sign-in by browser goes by: its state, its challenge and the application.
      .replace(/\b(state|code_challenge|client_id)=[^&]+/g, "$1=…")
      .replace(/^[\w-]{32}$/, "…")
      .replace(/\bring_\w+/g, "ring_…")
      .replace(/\bwhsec_[\w+/=]+/g, "whsec_…")
      .replace(/\b(ws|map|tok|aud|bl|imp|evt|whk|dlv|req|run|cyc)_[0-9A-Za-z]{22}\b/g, (id, kind: string) =>
        sampled(kind, id, (number) => `${kind}_4FzQ1VbT0uWm9sLkX7a${digits(number)}`),
      )
      .replace(/\b(00D|00[1-9]|a\d\d|0\d[A-Za-z0-9])[A-Za-z0-9]{15}\b/g, (id, kind: string) =>
        sampled(kind, id, (number) => `${kind}Qy00000Bridge${digits(number).slice(1)}`.padEnd(18, "A").slice(0, 18)),
      )
      .replace(/http:\/\/127\.0\.0\.1:\d+/g, "https://acme.my.salesforce.com")
      .replaceAll("127.0.0.1", "db.example.com");

  const walk = (value: unknown, name: string): unknown => {
    if (name in SAMPLES && value !== null) return SAMPLES[name];
    if (typeof value === "string") return text(value);
    if (Array.isArray(value)) return value.slice(0, MOST).map((one) => walk(one, ""));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, walk(one, key)]));
  };
  return (value) => walk(value, "");
}

/** Rows of a list that an example shows. */
const MOST = 3;

/** What no two instances have alike, by name. */
const SAMPLES: Readonly<Record<string, unknown>> = {
  latency_ms: 3,
  duration_ms: 120,
  port: 5432,
  database: "acme",
  user: "bridge",
  host: "db.example.com",
  username: "integration@acme.example",
  next: "3.3.3.9ix.mxk3a000",
  calls_used: 1200,
  calls_left: 98800,
  calls_limit: 100000,
  lag_seconds: { p50: 4.1, p95: 9.7 },
  api_calls: { SOAP: 12, REST: 40 },
  client_id: "3MVG9…",
  client_secret: "…",
  code: "aPrx…",
  request_body: '{"id":"evt_…","event":"sync.broken", …}',
};
