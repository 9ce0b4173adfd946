import * as z from "zod/mini";
import { keyIdOf } from "../kms/seal.ts";
import type { Demand } from "./policy.ts";

/** A request to one of the cloud's services, as far as permissions look at it. */
export interface ServiceRequest {
  /** The name that the request is signed for: `dynamodb`, `sqs`, `kms`, `scheduler`. */
  readonly service: string;
  readonly method: string;
  readonly url: URL;
  /** What follows the dot of `X-Amz-Target`; undefined for REST services. */
  readonly action: string | undefined;
  readonly body: unknown;
}

/** The ARN of something in this cloud: `arnOf("sqs", "bridge-dev-cycles")`. */
export type ArnOf = (service: string, rest: string) => string;

/** What a caller must be allowed so that the request may be answered (AWS Service Authorization Reference). */
export function demandsOf(request: ServiceRequest, arnOf: ArnOf): Demand[] {
  const { service, action = "", body } = request;
  if (service === "dynamodb") return tableDemands(action, body, (rest) => arnOf("dynamodb", `table/${rest}`));
  if (service === "sqs") return queueDemands(action, body, (name) => arnOf("sqs", name));
  if (service === "kms") return [{ action: `kms:${action}`, resource: keyOf(body, arnOf), keys: contextOf(body) }];
  if (service === "scheduler") return scheduleDemands(request, (rest) => arnOf("scheduler", rest));
  return [{ action: `${service}:${action}`, resource: "*" }];
}

const table = z.object({ TableName: z.string(), IndexName: z.optional(z.string()) });
const several = z.object({ RequestItems: z.record(z.string(), z.unknown()) });
const transaction = z.object({ TransactItems: z.array(z.record(z.string(), table)) });
const statements = z.object({ Statements: z.array(z.object({ Statement: z.string() })) });

/** The action that allows each member of a transaction. */
const MEMBERS: Readonly<Record<string, string>> = {
  Get: "GetItem",
  Put: "PutItem",
  Update: "UpdateItem",
  Delete: "DeleteItem",
  ConditionCheck: "ConditionCheckItem",
};

function tableDemands(action: string, body: unknown, arnOf: (rest: string) => string): Demand[] {
  const demand = (name: string, on: string): Demand => ({ action: `dynamodb:${name}`, resource: arnOf(on) });
  if (action === "BatchGetItem" || action === "BatchWriteItem") {
    return Object.keys(several.parse(body).RequestItems).map((name) => demand(action, name));
  }
  if (action === "TransactGetItems" || action === "TransactWriteItems") {
    const members = transaction.parse(body).TransactItems.flatMap((item) => Object.entries(item));
    return members.map(([kind, { TableName }]) => demand(MEMBERS[kind] ?? kind, TableName));
  }
  if (action === "BatchExecuteStatement") {
    return statements.parse(body).Statements.map(({ Statement }) => {
      const [, verb = "", name = ""] = /^\s*(\w+)\s+(?:INTO\s+|.*?FROM\s+)?"([^"]+)"/is.exec(Statement) ?? [];
      return demand(`PartiQL${verb.slice(0, 1).toUpperCase()}${verb.slice(1).toLowerCase()}`, name);
    });
  }
  const { TableName, IndexName } = table.parse(body);
  return [demand(action, IndexName === undefined ? TableName : `${TableName}/index/${IndexName}`)];
}

const queue = z.object({ QueueUrl: z.string() });

function queueDemands(action: string, body: unknown, arnOf: (name: string) => string): Demand[] {
  const single = action.replace(/Batch$/, ""); // a batch is allowed by the action of one message
  const { data } = queue.safeParse(body);
  const name = data?.QueueUrl.split("/").at(-1);
  return [{ action: `sqs:${single}`, resource: name === undefined ? "*" : arnOf(name) }];
}

const key = z.object({ KeyId: z.optional(z.string()), CiphertextBlob: z._default(z.string(), "") });
const context = z.object({ EncryptionContext: z._default(z.record(z.string(), z.string()), {}) });

/** The keys by which conditions ask for an encryption context. */
function contextOf(body: unknown): Record<string, string> {
  const pairs = Object.entries(context.parse(body).EncryptionContext);
  return Object.fromEntries(pairs.map(([name, value]) => [`kms:EncryptionContext:${name}`, value]));
}

/** A policy names keys, never their aliases: a grant on an alias opens nothing, whatever name the call uses (AWS KMS Developer Guide). */
function keyOf(body: unknown, arnOf: ArnOf): string {
  const { KeyId: named, CiphertextBlob } = key.parse(body);
  const KeyId = named ?? keyIdOf(Buffer.from(CiphertextBlob, "base64")); // a ciphertext names its key itself
  return KeyId.startsWith("arn:") ? KeyId.replace(":alias/", ":key/alias/") : arnOf("kms", `key/${KeyId}`);
}

const VERBS: Readonly<Record<string, string>> = { POST: "Create", PUT: "Update", DELETE: "Delete", GET: "Get" };
const definition = z.object({
  GroupName: z.optional(z.string()),
  Target: z.optional(z.object({ RoleArn: z.string() })),
});

/** A schedule that is created or changed passes its role on, which needs a permission of its own. */
function scheduleDemands({ method, url, body }: ServiceRequest, arnOf: (rest: string) => string): Demand[] {
  const [, kind, name] = url.pathname.split("/").map(decodeURIComponent);
  const noun = kind === "schedule-groups" ? "ScheduleGroup" : "Schedule";
  if (!name) return [{ action: `scheduler:List${noun}s`, resource: "*" }];
  const action = `scheduler:${VERBS[method]}${noun}`;
  if (noun === "ScheduleGroup") return [{ action, resource: arnOf(`schedule-group/${name}`) }];
  const { GroupName, Target } = definition.parse(body ?? {});
  const group = GroupName ?? url.searchParams.get("groupName") ?? "default";
  return [{ action, resource: arnOf(`schedule/${group}/${name}`) }, ...(Target ? [passing(Target.RoleArn)] : [])];
}

const passing = (role: string): Demand => ({
  action: "iam:PassRole",
  resource: role,
  keys: { "iam:PassedToService": "scheduler.amazonaws.com" },
});
