import type { AcceptInvitationData, CreateTokenData, ListTokensData, RevokeTokenData } from "bridge/api";
import { Api } from "../api.ts";
import { argument, type Context, isSet, segment, text, wholeNumber } from "../context.ts";
import { CommandFailure } from "../failure.ts";
import { LOCAL, profilesFile, readProfiles, writeProfiles } from "../profiles.ts";
import { readSecret } from "../secret.ts";
import { shortTime } from "../words.ts";

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
      { name: "VALID UNTIL", of: ({ valid_until }) => valid_until ?? "no end", short: shortTime },
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

/** Invites a person: the link gives them a token of their own, once. It is alone on standard output. */
export async function invite(context: Context): Promise<void> {
  const { out } = context;
  const owner = argument(context, 0);
  const chosen = (["read", "operate", "admin"] as const).filter((scope) => isSet(context, scope));
  if (chosen.length > 1) throw new CommandFailure("usage", "choose one of --read, --operate and --admin");
  const days = wholeNumber(context, "days");
  const body = { name: owner, owner, scopes: chosen.length > 0 ? chosen : (["read"] as const), invitation: true };
  const asked = { body: { ...body, ...(days !== null && { valid_days: days }) } };
  const { data } = await context.api().post<CreateTokenData>("/tokens", asked);
  const { url, workspaceId } = context.target();
  const link = `${url}/#/sign-in?${new URLSearchParams({ workspace: workspaceId, invitation: data.token })}`;
  if (!out.json)
    out.note(`Send ${data.owner} this link. It works once, until ${data.valid_until} (${data.scopes.join(", ")}):`);
  out.done(link, { ...data, link });
}

/** Accepts an invitation and keeps the token as a profile. */
export async function accept(context: Context): Promise<void> {
  const { terminal, out } = context;
  const link = await readSecret(terminal, "Link of the invitation", null);
  const { url, workspaceId, invitation } = partsOf(link);
  const name = text(context, "name") ?? workspaceId;
  if (name === LOCAL) throw new CommandFailure("usage", `${LOCAL} always means the instance on this machine`);
  const { profiles } = readProfiles(terminal.env); // a file that cannot be read uses up no invitation
  const { data } = await new Api(
    { url, workspaceId, token: invitation },
    terminal.interrupted,
  ).post<AcceptInvitationData>("/tokens/accept");
  const { token, ...shown } = data;
  try {
    writeProfiles(terminal.env, { current: name, profiles: { ...profiles, [name]: { url, workspaceId, token } } });
  } catch (cause) {
    const remedy = `keep it, and run bridge login ${url} --workspace ${workspaceId}`;
    throw new CommandFailure("usage", `your token is ${token}, but it could not be kept: ${remedy}`, { cause });
  }
  out.done(
    `Signed in to ${url}, workspace ${workspaceId}, as ${data.owner} (${data.scopes.join(", ")}). ` +
      `Kept as profile ${name} in ${profilesFile(terminal.env)}.`,
    { profile: name, url, workspace_id: workspaceId, token: shown },
  );
}

function partsOf(link: string): { readonly url: string; readonly workspaceId: string; readonly invitation: string } {
  const address = URL.canParse(link) ? new URL(link) : null;
  const query = new URLSearchParams(address?.hash.split("?")[1]);
  const [workspaceId, invitation] = [query.get("workspace"), query.get("invitation")];
  if (!address || !workspaceId || !invitation)
    throw new CommandFailure("usage", "this is no link of an invitation: copy it whole");
  return { url: `${address.origin}${address.pathname}`.replace(/(?<!\/)\/+$/, ""), workspaceId, invitation };
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
