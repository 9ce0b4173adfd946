import type { CreateTokenData, ListTokensData, RevokeTokenData } from "bridge/api";
import type { Api } from "../api.ts";
import { argument, type Context, segment, text, wholeNumber } from "../context.ts";
import { CommandFailure } from "../failure.ts";
import { shortTime } from "../table.ts";

/** All tokens of the workspace. */
export async function listTokens({ api, out }: Context): Promise<void> {
  const { data } = await api().get<ListTokensData>("/tokens");
  out.list(
    data,
    [
      { name: "ID", of: ({ id }) => id, whole: true },
      { name: "NAME", of: ({ name }) => name },
      { name: "OWNER", of: ({ owner }) => owner },
      { name: "SCOPES", of: ({ scopes }) => scopes.join(" ") },
      {
        name: "STATE",
        of: ({ state }) => state,
        paint: (cell, { state }) => out.paint(state === "valid" ? "green" : "dim", cell),
      },
      { name: "LAST USED", of: ({ last_used_at }) => last_used_at ?? "never", short: shortTime, spare: true },
      { name: "VALID UNTIL", of: ({ valid_until }) => valid_until ?? "revocation", short: shortTime },
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
  const { data } = await context.api().post<CreateTokenData>("/tokens", { body });
  if (!out.json) out.note(`Token ${data.id} for ${data.owner} (${data.scopes.join(", ")}). It is shown this once:`);
  out.done(data.token, data);
}

const DAY_MILLISECONDS = 86_400_000;

/** Makes a token like another, shows it once, and ends the other one some hours later. */
export async function rotateToken(context: Context): Promise<void> {
  const { out } = context;
  const api = context.api();
  const hours = wholeNumber(context, "overlap") ?? 24;
  const { id, name, owner, scopes, created_at, valid_until } = await findToken(api, argument(context, 0));
  const days = valid_until && Math.ceil((Date.parse(valid_until) - Date.parse(created_at)) / DAY_MILLISECONDS);
  const body = { name, owner, scopes, ...(days && { valid_days: days }) };
  const { data } = await api.post<CreateTokenData>("/tokens", { body });
  if (!out.json) out.note(`Token ${data.id} for ${owner} (${scopes.join(", ")}). It is shown this once:`);
  out.done(data.token, data); // before the old one is touched: whatever happens then, the user has this one
  await api.delete<RevokeTokenData>(`/tokens/${segment(id)}`, { in_hours: hours });
  if (!out.json) out.note(`The old one, ${id}, is valid for ${hours} more hours.`);
}

/** Ends a token, named by its id or, where only one has it, by its name. */
export async function revokeToken(context: Context): Promise<void> {
  const api = context.api();
  const { id, name, owner } = await findToken(api, argument(context, 0));
  const { data } = await api.delete<RevokeTokenData>(`/tokens/${segment(id)}`);
  context.out.done(`Token ${id} (${name} of ${owner}) opens nothing any more, within seconds.`, data);
}

async function findToken(api: Api, wanted: string): Promise<ListTokensData[number]> {
  const { data } = await api.get<ListTokensData>("/tokens");
  const found = data.filter(({ id, name, state }) => id === wanted || (name === wanted && state === "valid"));
  const [token, ...others] = found;
  if (token && others.length === 0) return token;
  const why = token
    ? `${found.length} tokens have the name "${wanted}"`
    : `there is no token "${wanted}" that is valid`;
  throw new CommandFailure(token ? "conflict" : "notFound", `${why}; name one by its id: bridge token list shows them`);
}
