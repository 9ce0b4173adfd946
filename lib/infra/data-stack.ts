import { Duration, RemovalPolicy, Stack } from "aws-cdk-lib";
import { AttributeType, BillingMode, ProjectionType, Table, type TableProps } from "aws-cdk-lib/aws-dynamodb";
import { Alias, type IKey, Key } from "aws-cdk-lib/aws-kms";
import { Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";
import { QUEUES, type QueueName, TABLES, type TableName, WORKERS } from "../model/resources.ts";
import { hasProductionRules } from "../model/stage.ts";
import { idOf, nameIn, type Settings } from "./options/settings.ts";

/** What outlives the application: the tables, the key, and the queues with what waits in them. */
export interface Resources {
  readonly tables: Readonly<Record<TableName, Table>>;
  readonly queues: Readonly<Record<QueueName, Queue>>;
  readonly key: IKey;
  /** A key that secrets may still be sealed by, which is only opened with. */
  readonly formerKeyArn: string | null;
}

/**
 * Everything that must survive a removal of the application stack. Tables and key stay even when this stack is
 * deleted, unless their very creation failed (RetainExceptOnCreate), so a first deploy that breaks can be repeated.
 */
export class DataStack extends Stack implements Resources {
  readonly tables: Readonly<Record<TableName, Table>>;
  readonly queues: Readonly<Record<QueueName, Queue>>;
  readonly key: IKey;
  readonly formerKeyArn: string | null;

  constructor(scope: Construct, settings: Settings) {
    const { stage } = settings;
    super(scope, `Bridge-${stage}-Data`, {
      stackName: `Bridge-${stage}-Data`,
      description: `Bridge (${stage}): tables, key and queues`,
      terminationProtection: hasProductionRules(stage),
    });
    const aliasName = `alias/bridge-${stage}`;
    this.key = settings.keyArn ? Key.fromKeyArn(this, "Key", settings.keyArn) : this.newKey(aliasName, stage);
    if (settings.keyArn) new Alias(this.key, "Alias", { aliasName, targetKey: this.key });
    this.formerKeyArn = settings.formerKeyArn;
    this.tables = mapRows(TABLES, (name) => this.table(name, stage));
    this.queues = mapRows(QUEUES, (name) => this.queue(name, stage));
  }

  private newKey(alias: string, stage: string): Key {
    return new Key(this, "Key", {
      alias,
      description: `Bridge (${stage}): encrypts the data keys of credentials and secrets`,
      enableKeyRotation: true,
      removalPolicy: removalPolicyOf(stage),
    });
  }

  private table(name: TableName, stage: Settings["stage"]): Table {
    const { sorted, indexes } = TABLES[name];
    const table = new Table(this, `${idOf(name)}Table`, {
      tableName: nameIn(stage, name),
      partitionKey: text("pk"),
      ...(sorted && { sortKey: text("sk") }),
      billingMode: BillingMode.PAY_PER_REQUEST,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      timeToLiveAttribute: "expires_at",
      deletionProtection: hasProductionRules(stage),
      removalPolicy: removalPolicyOf(stage),
    });
    for (const { name: indexName, pk, sk, projection } of indexes) {
      table.addGlobalSecondaryIndex({
        indexName,
        partitionKey: text(pk),
        sortKey: text(sk),
        ...projected(projection),
      });
    }
    return table;
  }

  private queue(name: QueueName, stage: Settings["stage"]): Queue {
    const { delaySeconds, maxReceives } = QUEUES[name];
    const deadLetters = new Queue(this, `${idOf(name)}DeadLetters`, {
      queueName: nameIn(stage, `${name}-dead`),
      retentionPeriod: Duration.days(14),
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
    });
    return new Queue(this, `${idOf(name)}Queue`, {
      queueName: nameIn(stage, name),
      deliveryDelay: Duration.seconds(delaySeconds),
      retentionPeriod: Duration.days(4),
      visibilityTimeout: Duration.seconds(visibilitySeconds(name)),
      deadLetterQueue: { queue: deadLetters, maxReceiveCount: maxReceives },
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
    });
  }
}

function projected(projection: "all" | "keys" | readonly string[]) {
  if (projection === "all") return { projectionType: ProjectionType.ALL };
  if (projection === "keys") return { projectionType: ProjectionType.KEYS_ONLY };
  return { projectionType: ProjectionType.INCLUDE, nonKeyAttributes: [...projection] };
}

/** A drill leaves nothing behind. */
const removalPolicyOf = (stage: Settings["stage"]): RemovalPolicy =>
  stage === "drill" ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE;

/** Six times the time-out of the function that reads the queue, and its batch window, as Lambda asks for; 30 s where none reads it yet. */
function visibilitySeconds(name: QueueName): number {
  const readers = Object.values(WORKERS).filter(({ queue }) => queue === name);
  return Math.max(30, ...readers.map((reader) => 6 * reader.timeoutSeconds + reader.batchWindowSeconds));
}

function mapRows<Row extends string, Made>(rows: Record<Row, unknown>, make: (name: Row) => Made): Record<Row, Made> {
  const names = Object.keys(rows) as Row[];
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Record<Row, Made>;
}

const text = (name: string): NonNullable<TableProps["partitionKey"]> => ({ name, type: AttributeType.STRING });
