import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
  type GlobalSecondaryIndex,
  ResourceInUseException,
  ResourceNotFoundException,
  type TableDescription,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
} from "@aws-sdk/client-dynamodb";

/** The properties of a CloudFormation `AWS::DynamoDB::Table`, its references resolved. */
export type TableProperties = Readonly<Record<string, unknown>> & { readonly TableName: string };

interface TimeToLive {
  readonly AttributeName: string;
  readonly Enabled: boolean;
}

/** What a single machine takes over as it is. */
const KEPT = [
  "AttributeDefinitions",
  "BillingMode",
  "GlobalSecondaryIndexes",
  "KeySchema",
  "LocalSecondaryIndexes",
  "ProvisionedThroughput",
  "TableName",
];

/** What has no meaning on a single machine, and is read here or left out knowingly. */
const WITHOUT_MEANING = new Set([
  "ContributorInsightsSpecification",
  "DeletionProtectionEnabled",
  "OnDemandThroughput",
  "PointInTimeRecoverySpecification",
  "ResourcePolicy",
  "SSESpecification",
  "StreamSpecification",
  "TableClass",
  "Tags",
  "TimeToLiveSpecification",
]);

/**
 * Makes the table be as its CloudFormation resource says: creates it when it is missing, adds index and time to live
 * that it lacks, and changes nothing else. Throws when a property is unknown or the key of an existing table differs.
 */
export async function ensureTable(client: DynamoDBClient, properties: TableProperties): Promise<void> {
  const input = inputOf(properties);
  const table = await describedOrCreated(client, input);
  if (JSON.stringify(table.KeySchema) !== JSON.stringify(input.KeySchema)) {
    throw new Error(`the table ${properties.TableName} exists with another key: its data cannot be carried over`);
  }
  const present = new Set(table.GlobalSecondaryIndexes?.map(({ IndexName }) => IndexName));
  for (const index of input.GlobalSecondaryIndexes ?? []) {
    if (!present.has(index.IndexName)) await addIndex(client, input, index);
  }
  await ensureTimeToLive(client, properties);
}

function inputOf(properties: TableProperties): CreateTableCommandInput {
  const names = Object.keys(properties);
  const unknown = names.filter((name) => !KEPT.includes(name) && !WITHOUT_MEANING.has(name));
  if (unknown.length > 0) {
    throw new Error(
      `the table ${properties.TableName} has properties that the local DynamoDB cannot keep: ${unknown.join(", ")}`,
    );
  }
  const kept = Object.fromEntries(Object.entries(properties).filter(([name]) => KEPT.includes(name)));
  return kept as unknown as CreateTableCommandInput;
}

async function describedOrCreated(client: DynamoDBClient, input: CreateTableCommandInput): Promise<TableDescription> {
  const describe = new DescribeTableCommand({ TableName: input.TableName });
  try {
    return (await client.send(describe)).Table ?? {};
  } catch (error) {
    if (!(error instanceof ResourceNotFoundException)) throw error;
  }
  try {
    return (await client.send(new CreateTableCommand(input))).TableDescription ?? {};
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error;
    return (await client.send(describe)).Table ?? {}; // another process was faster
  }
}

async function addIndex(
  client: DynamoDBClient,
  input: CreateTableCommandInput,
  index: GlobalSecondaryIndex,
): Promise<void> {
  await client.send(
    new UpdateTableCommand({
      TableName: input.TableName,
      AttributeDefinitions: input.AttributeDefinitions,
      GlobalSecondaryIndexUpdates: [{ Create: index }],
    }),
  );
}

async function ensureTimeToLive(
  client: DynamoDBClient,
  { TableName, TimeToLiveSpecification }: TableProperties,
): Promise<void> {
  const wanted = TimeToLiveSpecification as TimeToLive | undefined;
  if (!wanted?.Enabled) return;
  const { TimeToLiveDescription } = await client.send(new DescribeTimeToLiveCommand({ TableName }));
  if (TimeToLiveDescription?.TimeToLiveStatus === "ENABLED") return;
  const { AttributeName, Enabled } = wanted;
  const TimeToLive = { AttributeName, Enabled };
  await client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification: TimeToLive }));
}
