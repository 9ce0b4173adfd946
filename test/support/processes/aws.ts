import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { buffer } from "node:stream/consumers";
import { freePort } from "../../../lib/local/free-port.ts";

/** Moto, the emulated AWS, is on this machine (`pip install 'moto[server]'`). */
export const hasMoto = (): boolean => spawnSync("moto_server", ["--help"]).status === 0;

/** Answers an action of CloudFormation, in XML. */
type CloudFormation = (action: string, parameters?: Readonly<Record<string, string>>) => Promise<string>;

const REGION = "eu-central-1";
const CREDENTIAL = `AWS4-HMAC-SHA256 Credential=testing/20260101/${REGION}/cloudformation/aws4_request`;

/**
 * Starts an AWS without anything in it: moto behind a proxy. Moto lacks `Fn::GetStackOutput`, so the proxy resolves it from the outputs of the stacks
 * that are deployed, and gives a template back as it was sent. It lacks the protection of a stack, which the proxy says it
 * has, and change sets without a change, which fail on AWS when they are looked at. Everything else passes unchanged.
 */
export async function startAws() {
  const port = await freePort();
  const moto = spawn("moto_server", ["-H", "127.0.0.1", "-p", String(port)], { stdio: ["ignore", "ignore", "pipe"] });
  const ended = once(moto, "close").then(() =>
    Promise.reject(new Error("moto_server has ended: see its output above")),
  );
  await Promise.race([printed(moto.stderr, /Running on/), ended]);
  const upstream = `http://127.0.0.1:${port}`;
  const cloudFormation = cloudFormationAt(upstream);
  const sent = new Map<string, string>();
  const empty = new Set<string>();
  const answer = async (incoming: IncomingMessage, response: ServerResponse) => {
    const body = await buffer(incoming);
    const asked = formOf(incoming, body);
    const name = asked?.get("StackName") ?? "";
    const action = asked?.get("Action") ?? "";
    const changeSet = asked?.get("ChangeSetName") ?? "";
    const say = (fields: string) => response.writeHead(200, { "content-type": "text/xml" }).end(xmlOf(action, fields));
    if (action === "UpdateTerminationProtection") return say(`<StackId>${name}</StackId>`);
    if (action === "DescribeChangeSet" && empty.has(changeSet)) return say(EMPTY);
    const resolved = asked?.has("TemplateURL") ? await resolvedTemplate(asked, upstream, cloudFormation) : null;
    if (resolved) sent.set(name, resolved.original);
    const answered = await forward(incoming, resolved ? Buffer.from(resolved.form.toString()) : body, upstream);
    if (action === "CreateChangeSet" && answered.body.includes(NO_CHANGE)) {
      empty.add(changeSet);
      return say(`<Id>${changeSet}</Id>`);
    }
    const original = action === "GetTemplate" ? sent.get(name) : undefined;
    const { "content-length": _, ...headers } = answered.headers;
    const text = original === undefined ? answered.body : Buffer.from(withTemplate(answered.body.toString(), original));
    return response.writeHead(answered.status, { ...headers, "content-length": text.length }).end(text);
  };
  const proxy = createServer((incoming, response) => {
    answer(incoming, response).catch((error: Error) => response.writeHead(400).end(String(error.stack)));
  });
  await once(proxy.listen(0, "127.0.0.1"), "listening");
  return {
    /** What a shell needs so that commands reach it. */
    environment: {
      AWS_ENDPOINT_URL: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
      AWS_REGION: REGION,
      AWS_DEFAULT_REGION: REGION,
      AWS_ACCESS_KEY_ID: "testing",
      AWS_SECRET_ACCESS_KEY: "testing",
    },
    cloudFormation,
    [Symbol.asyncDispose]: async () => {
      proxy.closeAllConnections();
      await new Promise((done) => proxy.close(done));
      moto.kill();
      await ended.catch(() => undefined);
    },
  };
}

const NO_CHANGE = "No updates must be performed";
const EMPTY = `<Status>FAILED</Status><StatusReason>${NO_CHANGE}.</StatusReason>`;

const xmlOf = (action: string, fields: string): string =>
  `<${action}Response><${action}Result>${fields}</${action}Result></${action}Response>`;

/** Reads on after the line that matches, so that the program never waits for its reader. */
const printed = (input: NodeJS.ReadableStream, pattern: RegExp) =>
  new Promise<void>((done) => createInterface({ input }).on("line", (line) => pattern.test(line) && done()));

function cloudFormationAt(upstream: string): CloudFormation {
  return async (Action, parameters = {}) => {
    const body = new URLSearchParams({ Action, Version: "2010-05-15", ...parameters });
    const answer = await fetch(upstream, { method: "POST", body, headers: { authorization: CREDENTIAL } });
    return answer.text();
  };
}

/** The fields of a request of the query protocol; null for any other. */
function formOf({ headers }: IncomingMessage, body: Buffer): URLSearchParams | null {
  const isForm = headers["content-type"]?.startsWith("application/x-www-form-urlencoded");
  return isForm ? new URLSearchParams(body.toString()) : null;
}

type Form = { readonly original: string; readonly form: URLSearchParams };

/** The request with its template inside, because moto finds only those at Amazon's own addresses, and resolved. */
async function resolvedTemplate(
  asked: URLSearchParams,
  upstream: string,
  cloudFormation: CloudFormation,
): Promise<Form> {
  const { pathname } = new URL(asked.get("TemplateURL") ?? "");
  const authorization = CREDENTIAL.replace("cloudformation", "s3");
  const stored = await fetch(`${upstream}${pathname}`, { headers: { authorization } });
  const original = await stored.text();
  const outputs = new Map<string, ReadonlyMap<string, string>>();
  for (const [, stack = ""] of original.matchAll(/"Fn::GetStackOutput":\s*\{\s*"StackName":\s*"([^"]+)"/g))
    if (!outputs.has(stack)) outputs.set(stack, await outputsOf(stack, cloudFormation));
  const template = JSON.parse(original, (_, value: unknown) => {
    const wanted = (value as Reference | null)?.["Fn::GetStackOutput"];
    if (!wanted) return value;
    const found = outputs.get(wanted.StackName)?.get(wanted.OutputName);
    if (found === undefined) throw new Error(`the stack ${wanted.StackName} has no output ${wanted.OutputName}`);
    return found;
  }) as Template;
  const form = new URLSearchParams(asked);
  form.delete("TemplateURL");
  form.set("TemplateBody", JSON.stringify({ ...template, Resources: inOrder(template.Resources) }));
  return { original, form };
}

/** Moto makes what a change set adds in the template's order, whatever `DependsOn` says: what is depended on comes first. */
function inOrder(resources: Template["Resources"]): Template["Resources"] {
  const ordered = new Map<string, Resource>();
  const add = (id: string): void => {
    const resource = resources[id];
    if (!resource || ordered.has(id)) return;
    for (const other of [resource.DependsOn ?? []].flat()) add(other);
    ordered.set(id, resource);
  };
  for (const id of Object.keys(resources)) add(id);
  return Object.fromEntries(ordered);
}

interface Resource {
  readonly DependsOn?: string | readonly string[];
}

interface Template {
  readonly Resources: Readonly<Record<string, Resource>>;
}

interface Reference {
  readonly "Fn::GetStackOutput"?: { readonly StackName: string; readonly OutputName: string };
}

/** Moto computes outputs when a stack is updated, and not when a change set is carried out: so it is updated to itself. */
async function outputsOf(StackName: string, cloudFormation: CloudFormation): Promise<ReadonlyMap<string, string>> {
  await cloudFormation("UpdateStack", { StackName, UsePreviousTemplate: "true" });
  const xml = await cloudFormation("DescribeStacks", { StackName });
  const pairs = xml.matchAll(/<OutputKey>([^<]*)<\/OutputKey>\s*<OutputValue>([^<]*)<\/OutputValue>/g);
  return new Map([...pairs].map(([, key = "", value = ""]) => [key, value]));
}

function withTemplate(xml: string, template: string): string {
  const escaped = template.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return xml.replace(
    /(<TemplateBody>).*(<\/TemplateBody>)/s,
    (_, open: string, close: string) => open + escaped + close,
  );
}

async function forward(incoming: IncomingMessage, body: Buffer, upstream: string) {
  const { "content-length": _, "transfer-encoding": __, ...headers } = incoming.headers;
  const sending = request(`${upstream}${incoming.url}`, {
    method: incoming.method,
    headers: { ...headers, ...(body.length > 0 && { "content-length": body.length }) },
  }).end(body);
  const [answer] = (await once(sending, "response")) as [IncomingMessage];
  return { status: answer.statusCode ?? 502, headers: answer.headers, body: await buffer(answer) };
}
