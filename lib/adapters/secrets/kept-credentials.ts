import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { CREDENTIAL_COMMANDS, credentialCommandsIn } from "../../model/resources.ts";
import { type CredentialReader, CredentialsUnread, type KeptAt, nameOf } from "../../network/kept-credentials.ts";
import { ASKING } from "../../network/sdk-timeouts.ts";

const COMMAND_MILLISECONDS = 10_000;

/** The tag by which the owner of a secret says which workspace may use it. */
const TAG = "bridge-workspace";

/** Reads secrets of AWS Secrets Manager, or runs the operator's commands where Bridge runs on one machine. */
export const readKept: CredentialReader = (place) => (place.kind === "secret" ? readSecret(place) : runCommand(place));

/** Why a workspace may not use what is kept there; null: it may. */
export async function refuseKept(place: KeptAt, workspaceId: string): Promise<string | null> {
  try {
    return await refuse(place, workspaceId);
  } catch (error) {
    if (error instanceof CredentialsUnread) return error.message;
    throw error;
  }
}

async function refuse(place: KeptAt, workspaceId: string): Promise<string | null> {
  if (place.kind === "command") return commandOf(place) === undefined ? unknownCommand(place.name) : null;
  const { DescribeSecretCommand, client } = await secretsManager();
  const { Tags = [] } = await client.send(new DescribeSecretCommand({ SecretId: place.name })).catch(unread(place));
  const isTagged = Tags.some(({ Key, Value }) => Key === TAG && Value === workspaceId);
  return isTagged ? null : `the secret is not this workspace's: tag it with ${TAG}=${workspaceId}`;
}

async function readSecret(place: KeptAt): Promise<string> {
  const { GetSecretValueCommand, client } = await secretsManager();
  const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: place.name })).catch(unread(place));
  return SecretString ?? "";
}

/** From the runtime, which brings the SDK: few deployments have such a secret. */
async function secretsManager() {
  if (process.env["AWS_ENDPOINT_URL_KMS"] && !process.env["AWS_ENDPOINT_URL_SECRETS_MANAGER"])
    throw new CredentialsUnread("on one machine there is no Secrets Manager: name a command in the URL instead");
  const { SecretsManagerClient, ...sdk } = await import("@aws-sdk/client-secrets-manager");
  return { ...sdk, client: new SecretsManagerClient(ASKING) };
}

const unread = (place: KeptAt) => (error: Error) => {
  const remedy =
    error.name === "AccessDeniedException"
      ? `tag it with ${TAG}=<workspace id>, and let the functions decrypt with its key if that is your own`
      : "look at it in the console of Secrets Manager";
  throw new CredentialsUnread(`${nameOf(place)} cannot be read (${error.name}): ${remedy}`, { cause: error });
};

async function runCommand(place: KeptAt): Promise<string> {
  const command = commandOf(place);
  if (command === undefined) throw new CredentialsUnread(unknownCommand(place.name));
  try {
    const { stdout } = await promisify(execFile)("sh", ["-c", command], { timeout: COMMAND_MILLISECONDS });
    return stdout;
  } catch (error) {
    const { code, killed } = error as { code?: unknown; killed?: boolean };
    const how = killed ? "took longer than 10 s" : `ended with exit code ${String(code)}`;
    throw new CredentialsUnread(`${nameOf(place)} ${how}; run it by hand where Bridge runs`);
  }
}

const commandOf = ({ name }: KeptAt): string | undefined => credentialCommandsIn(process.env)[name];

const unknownCommand = (name: string): string =>
  `there is no command ${name}: name it in ${CREDENTIAL_COMMANDS} where Bridge runs, and start Bridge again`;
