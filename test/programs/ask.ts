/** One request with a bearer token, its body as JSON, or as CSV when it is a text; throws unless it is answered well. */
export async function request(
  url: string,
  token: string | null,
  method: string,
  body?: object | string,
): Promise<Response> {
  const isText = typeof body === "string";
  const answer = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": isText ? "text/csv" : "application/json" },
    ...(body !== undefined && { body: isText ? body : JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${method} ${url} answered ${answer.status}: ${await answer.text()}`);
  return answer;
}

/** The same, its answer read: JSON, or else a text. */
export async function ask<Answer>(...asked: Parameters<typeof request>): Promise<Answer> {
  const answer = await request(...asked);
  const isJson = answer.headers.get("content-type")?.includes("json") && answer.status !== 204;
  return (await (isJson ? answer.json() : answer.text())) as Answer;
}

/** How a program asks one service: below an address, by one token. */
export type Ask = <Answer>(method: string, path: string, body?: object | string) => Promise<Answer>;

/** Asks an org by REST. */
export const orgAsk =
  (url: string, token: string | null): Ask =>
  (method, path, body) =>
    ask(`${url}/services/data/v66.0${path}`, token, method, body);

/** Asks Bridge's API below a workspace; gives the data of its answers. */
export const bridgeAsk =
  (baseUrl: string, workspace: { readonly id: string; readonly token: string }): Ask =>
  async <Answer>(method: string, path: string, body?: object | string) => {
    const url = `${baseUrl}/api/v1/t/${workspace.id}${path}`;
    return (await ask<{ readonly data: Answer }>(url, workspace.token, method, body)).data;
  };

/** All records of a query, page by page; `queryAll` finds deleted ones, too. */
export async function queryAll<Found>(
  askOrg: Ask,
  soql: string,
  how: "query" | "queryAll" = "query",
): Promise<Found[]> {
  const found: Found[] = [];
  for (let path: string | undefined = `/${how}?q=${encodeURIComponent(soql)}`; path !== undefined; ) {
    const page: { records: Found[]; nextRecordsUrl?: string } = await askOrg("GET", path);
    found.push(...page.records);
    path = page.nextRecordsUrl?.replace(/^.*\/v[\d.]+/, "");
  }
  return found;
}
