import diagnostics from "node:diagnostics_channel";
import type { ClientRequest } from "node:http";

type Counts = Readonly<Record<string, number>>;

/** Items that the functions of this process ask DynamoDB to write while `work` runs, by table. */
export const countWrites = (work: () => Promise<unknown>): Promise<Counts> => countNames(work, tablesWritten);

/** Calls of DynamoDB by this process while `work` runs, as `Query engine`; the table's name is without its stage. */
export const countCalls = (work: () => Promise<unknown>): Promise<Counts> =>
  countNames(work, (action, { TableName, RequestItems = {}, TransactItems }) => {
    const table = TableName ?? Object.keys(RequestItems)[0] ?? (TransactItems ? "several" : "");
    return [`${action} ${table.split("-").at(-1)}`];
  });

async function countNames(
  work: () => Promise<unknown>,
  namesOf: (action: string, input: WriteInput) => readonly string[],
): Promise<Counts> {
  const counts: Record<string, number> = {};
  const look = (message: unknown) => {
    const { request } = message as { request: ClientRequest };
    const [, action] = /^DynamoDB_\d+\.(\w+)$/.exec(String(request.getHeader("x-amz-target"))) ?? [];
    if (action === undefined) return;
    const end = request.end.bind(request) as (...given: unknown[]) => ClientRequest;
    request.end = ((...given: unknown[]) => {
      const [body] = given;
      const input = typeof body === "string" || body instanceof Uint8Array ? Buffer.from(body).toString() : "{}";
      for (const name of namesOf(action, JSON.parse(input) as WriteInput)) counts[name] = (counts[name] ?? 0) + 1;
      return end(...given);
    }) as ClientRequest["end"];
  };
  diagnostics.subscribe("http.client.request.created", look);
  try {
    await work();
  } finally {
    diagnostics.unsubscribe("http.client.request.created", look);
  }
  return counts;
}

interface WriteInput {
  readonly TableName?: string;
  readonly RequestItems?: Readonly<Record<string, readonly unknown[]>>;
  readonly TransactItems?: readonly Readonly<Record<string, { readonly TableName: string }>>[];
  readonly Statements?: readonly { readonly Statement: string }[];
}

/** The table of each item that a call writes. */
function tablesWritten(action: string, input: WriteInput): string[] {
  if (!/^(PutItem|UpdateItem|DeleteItem|BatchWriteItem|TransactWriteItems|BatchExecuteStatement)$/.test(action))
    return [];
  const { TableName, RequestItems = {}, TransactItems = [], Statements = [] } = input;
  return [
    ...(TableName === undefined ? [] : [TableName]),
    ...Object.entries(RequestItems).flatMap(([table, requests]) => requests.map(() => table)),
    ...TransactItems.flatMap((item) => Object.values(item).map((write) => write.TableName)),
    ...Statements.flatMap(({ Statement }) => /"([^"]+)"/.exec(Statement)?.[1] ?? []),
  ];
}
