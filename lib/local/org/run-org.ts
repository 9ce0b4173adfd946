import { X509Certificate } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { selfSigned } from "./http/self-signed.ts";
import type { Tls } from "./http/server.ts";
import { type Definition, definitionSchema } from "./metadata/definition.ts";
import { readLatency } from "./simulation/latency.ts";
import { type Org, startOrg } from "./start-org.ts";

/** What `bridge org` is asked for. */
export interface RunOrgOptions {
  readonly dataDir: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly host?: string;
  /** Serves HTTPS with a certificate of its own, kept in the data folder. */
  readonly tls?: boolean;
  /** A JSON file with objects, fields and rules beyond the standard ones. */
  readonly definition?: string | null;
  /** Opens the control endpoints under `/_sim`. */
  readonly controls?: boolean;
  readonly dailyApiRequests?: number;
  /** How long saves take, `SAVE,JOB` in seconds; null: as long as this machine takes. */
  readonly latency?: string | null;
}

/** Starts an org alone, with what a command line can say: the definition from a file, a certificate of its own. */
export async function openOrg(options: RunOrgOptions): Promise<LoneOrg> {
  const { host, controls, dailyApiRequests } = options;
  const org = await startOrg({
    dataDir: options.dataDir,
    port: options.port,
    ...(host === undefined ? {} : { host }),
    ...(controls === undefined ? {} : { controls }),
    ...(dailyApiRequests === undefined ? {} : { dailyApiRequests }),
    ...(options.tls ? { tls: keptCertificate(options.dataDir) } : {}),
    ...(options.latency ? { latency: readLatency(options.latency) } : {}),
    ...(options.definition ? { definition: readDefinition(options.definition) } : {}),
  });
  return { ...org, certificate: options.tls ? join(options.dataDir, "tls-cert.pem") : null };
}

interface LoneOrg extends Org {
  /** The file that clients have to trust; null without TLS. */
  readonly certificate: string | null;
}

/** Runs an org alone until the signal comes; `say` gets what its user needs to know to come in. */
export async function runOrg(options: RunOrgOptions, say: (text: string) => void, until: AbortSignal): Promise<void> {
  const org = await openOrg(options);
  say(introduction(org, options));
  if (!until.aborted)
    await new Promise<void>((resolve) => until.addEventListener("abort", () => resolve(), { once: true }));
  await org.close();
}

function introduction(org: LoneOrg, { controls }: RunOrgOptions): string {
  return [
    `The embedded Salesforce org listens on ${org.url}`,
    `  username       ${org.username}`,
    `  password       ${org.password}`,
    `  access token   ${org.accessToken}`,
    `  client id      ${org.clientId}`,
    `  client secret  ${org.clientSecret}`,
    ...(org.certificate ? [`  certificate    ${org.certificate} (NODE_EXTRA_CA_CERTS takes it)`] : []),
    ...(controls ? [`  controls       ${org.url}/_sim (GET it with the access token for the list)`] : []),
    "Ctrl-C stops it; the same data folder brings it back as it was.",
  ].join("\n");
}

/** Reads an org definition; what is wrong with it is said with its place in the file. */
function readDefinition(file: string): Definition {
  const parsed = definitionSchema.safeParse(JSON.parse(readFileSync(file, "utf8")));
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`);
  throw new Error(`${file} is no org definition: ${problems.join("; ")}`);
}

/** The certificate of the data folder, made at the first start and again when it is about to end. */
function keptCertificate(dataDir: string): Tls {
  const [keyFile, certFile] = [join(dataDir, "tls-key.pem"), join(dataDir, "tls-cert.pem")];
  mkdirSync(dataDir, { recursive: true });
  if (!existsSync(keyFile) || !existsSync(certFile) || endsSoon(readFileSync(certFile))) {
    const made = selfSigned(new Date());
    writeFileSync(keyFile, made.key, { mode: 0o600 });
    writeFileSync(certFile, made.cert);
  }
  return { key: readFileSync(keyFile, "utf8"), cert: readFileSync(certFile, "utf8") };
}

const MONTH_MS = 30 * 24 * 3600 * 1000;

function endsSoon(certificate: Buffer): boolean {
  return new X509Certificate(certificate).validToDate.getTime() < Date.now() + MONTH_MS;
}
