import { argument, type Context, segment, text, wholeNumber } from "../context.ts";

interface Token {
  readonly id: string;
  readonly name: string;
  readonly owner: string;
  readonly scopes: readonly string[];
  readonly state: string;
  readonly created_at: string;
  readonly valid_until: string | null;
  readonly last_used_at: string | null;
}

/** All tokens of the workspace. */
export async function listTokens({ api, out }: Context): Promise<void> {
  const { data } = await api().get<readonly Token[]>("/tokens");
  out.list(
    data,
    [
      { name: "ID", of: ({ id }) => id },
      { name: "NAME", of: ({ name }) => name },
      { name: "OWNER", of: ({ owner }) => owner },
      { name: "SCOPES", of: ({ scopes }) => scopes.join(" ") },
      {
        name: "STATE",
        of: ({ state }) => state,
        paint: (cell, { state }) => out.paint(state === "valid" ? "green" : "dim", cell),
      },
      { name: "LAST USED", of: ({ last_used_at }) => last_used_at ?? "never" },
      { name: "VALID UNTIL", of: ({ valid_until }) => valid_until ?? "revocation" },
    ],
    "No tokens.",
  );
}

/** Makes a token and shows it once: alone on standard output, so that it can be piped. */
export async function createToken(context: Context): Promise<void> {
  const { out } = context;
  const body = {
    name: argument(context, 0),
    owner: text(context, "owner"),
    scopes: [text(context, "scope") ?? "read"],
    ...(wholeNumber(context, "days") === null ? {} : { valid_days: wholeNumber(context, "days") }),
  };
  const { data } = await context.api().post<Token & { readonly token: string }>("/tokens", { body });
  if (!out.json) out.note(`Token ${data.id} for ${data.owner} (${data.scopes.join(", ")}). It is shown this once:`);
  out.done(data.token, data);
}

/** Ends a token. */
export async function revokeToken(context: Context): Promise<void> {
  const id = argument(context, 0);
  const { data } = await context.api().delete<Token>(`/tokens/${segment(id)}`);
  context.out.done(`Token ${id} (${data.name} of ${data.owner}) opens nothing any more, within seconds.`, data);
}
