import { ArnFormat, Stack } from "aws-cdk-lib";
import { type Access, queueVariable, SERVICE, TABLES, type TableName, tableVariable } from "../model/resources.ts";
import type { Beat } from "./beat.ts";
import type { BridgeFunction } from "./bridge-function.ts";
import type { Resources } from "./data-stack.ts";

// The transaction calls are allowed by the same actions as the single ones.
const READ = ["GetItem", "BatchGetItem", "Query"];
const WRITE = [...READ, "PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem"];

/** Tables into which items are inserted by statements. */
const INSERTED: ReadonlySet<TableName> = new Set(["deliveries"]);

/** CloudWatch's namespace of the service's own figures; their dimension is the stage. */
export const METRICS_NAMESPACE = "Bridge";

/** What functions may be granted. */
export interface Grantable extends Resources {
  readonly beat: Beat;
}

/**
 * Lets a function touch what its row names and nothing else: each name sets the variable with the thing's address, and
 * the least grant that makes it usable, in one step, so that neither can be forgotten.
 */
export function grantAccess(to: BridgeFunction, access: Access, resources: Grantable): void {
  const writes = new Set<TableName>(access.writes ?? []);
  for (const name of writes) {
    grantTable(to, name, INSERTED.has(name) ? [...WRITE, "PartiQLInsert"] : WRITE, resources);
  }
  for (const name of new Set(access.reads ?? [])) if (!writes.has(name)) grantTable(to, name, READ, resources);
  for (const name of new Set(access.sends ?? [])) {
    to.addEnvironment(queueVariable(name), resources.queues[name].queueUrl);
    to.allow(["sqs:SendMessage"], [resources.queues[name].queueArn]);
  }
  const scanned = (access.scans ?? []).map((name) => resources.tables[name].tableArn);
  if (scanned.length > 0) to.allow(["dynamodb:Scan"], scanned);
  if (access.secrets) grantSecrets(to, access.secrets, resources);
  if (access.watchesKey) to.allow(["kms:DescribeKey"], [resources.key.keyArn]);
  if (access.schedules) grantSchedules(to, resources);
  if (access.figures) to.addEnvironment("METRICS_NAMESPACE", METRICS_NAMESPACE);
  if (access.postgres) {
    to.addEnvironment("NODE_EXTRA_CA_CERTS", AMAZON_CERTIFICATES);
    // Of a customer's own credentials: the tag names the workspace that may use them.
    const resourceName = "*";
    const arnFormat = ArnFormat.COLON_RESOURCE_NAME;
    const secrets = Stack.of(to).formatArn({ service: "secretsmanager", resource: "secret", resourceName, arnFormat });
    to.allow(["secretsmanager:DescribeSecret", "secretsmanager:GetSecretValue"], [secrets], {
      StringLike: { "secretsmanager:ResourceTag/bridge-workspace": "?*" },
    });
  }
}

/**
 * The certificates that RDS and Aurora answer with are Amazon's own. The runtime brings their authorities, and since
 * Node.js 20 takes the time to load them only where it is configured to (AWS, Building Lambda functions with Node.js).
 */
const AMAZON_CERTIFICATES = "/var/runtime/ca-cert.pem";

function grantTable(to: BridgeFunction, name: TableName, actions: readonly string[], { tables }: Resources): void {
  const table = tables[name];
  const indexes = TABLES[name].indexes.length > 0 ? [`${table.tableArn}/index/*`] : [];
  to.addEnvironment(tableVariable(name), table.tableName);
  to.allow(
    actions.map((action) => `dynamodb:${action}`),
    [table.tableArn, ...indexes],
  );
}

/** Each data key belongs to a workspace, or to the service, by its encryption context. */
function grantSecrets(to: BridgeFunction, whose: "service" | "workspaces", resources: Resources): void {
  const { key, formerKeyArn } = resources;
  to.addEnvironment("KEY_ID", key.keyArn);
  const ownAlone = { StringEquals: { "kms:EncryptionContext:workspace_id": SERVICE } };
  const condition = whose === "service" ? ownAlone : {};
  to.allow(["kms:GenerateDataKey", "kms:Decrypt"], [key.keyArn], condition);
  if (formerKeyArn) to.allow(["kms:Decrypt"], [formerKeyArn], condition);
}

function grantSchedules(to: BridgeFunction, { beat, queues }: Grantable): void {
  to.addEnvironment("SCHEDULE_GROUP", beat.groupName);
  to.addEnvironment("SCHEDULER_ROLE_ARN", beat.fanOutRole.roleArn);
  to.addEnvironment("FAN_OUT_QUEUE_ARN", queues.fanOut.queueArn);
  const verbs = ["Create", "Delete"].map((verb) => `scheduler:${verb}Schedule`);
  to.allow(verbs, [
    Stack.of(to).formatArn({ service: "scheduler", resource: "schedule", resourceName: `${beat.groupName}/*` }),
  ]);
  to.allow(["scheduler:ListSchedules"], ["*"]); // IAM knows no narrower resource for it
  to.allow(["iam:PassRole"], [beat.fanOutRole.roleArn], {
    StringEquals: { "iam:PassedToService": "scheduler.amazonaws.com" },
  });
}
