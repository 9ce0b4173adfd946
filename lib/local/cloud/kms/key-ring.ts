import { randomBytes, randomUUID } from "node:crypto";
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, statSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import * as z from "zod/mini";
import { AwsError } from "../aws-error.ts";
import { invalid, invalidState, notFound } from "./errors.ts";

const keySchema = z.object({
  id: z.uuid(),
  material: z.base64(),
  description: z.string(),
  createdAt: z.number(),
  /** Left out: enabled. */
  state: z.optional(z.enum(["Disabled", "PendingDeletion"])),
});
const fileSchema = z.object({ keys: z.array(keySchema), aliases: z.record(z.string(), z.string()) });

/** A key; its material is 32 bytes in base64, and never leaves this folder. Times are epoch milliseconds. */
export type Key = z.infer<typeof keySchema>;

const ALIAS = /^alias\/(?!aws\/)[a-zA-Z0-9/_-]{1,250}$/;

/** The keys of one file, readable by its owner alone and replaced as a whole. */
export class KeyRing {
  readonly #file: string;
  readonly #arnBase: string;
  #content: z.infer<typeof fileSchema> = { keys: [], aliases: {} };

  constructor(file: string, arnBase: string) {
    this.#file = file;
    this.#arnBase = arnBase;
    if (!existsSync(file)) return;
    if (process.platform !== "win32" && (statSync(file).mode & 0o077) !== 0) {
      throw new Error(`${file} holds the keys of every credential and can be read by others: chmod 600 ${file}`);
    }
    this.#content = contentOf(file);
  }

  get aliases(): ReadonlyArray<readonly [alias: string, keyId: string]> {
    return Object.entries(this.#content.aliases);
  }

  create(description: string, now: number): Key {
    const key = { id: randomUUID(), material: randomBytes(32).toString("base64"), description, createdAt: now };
    this.#save({ ...this.#content, keys: [...this.#content.keys, key] });
    return key;
  }

  /** The key of a key id, key ARN, alias or alias ARN. Throws NotFoundException. */
  find(name: string): Key {
    const local = name.startsWith(`${this.#arnBase}:`) ? name.slice(this.#arnBase.length + 1) : name;
    const id = local.startsWith("alias/") ? this.#content.aliases[local] : local.replace(/^key\//, "");
    const key = this.#content.keys.find((each) => each.id === id);
    if (!key) throw notFound(local.startsWith("alias/") ? `Alias ${this.#arnBase}:${local}` : `Key '${name}'`);
    return key;
  }

  /** The same, to encrypt and decrypt with. Throws while it is disabled or about to be deleted. */
  usable(name: string): Key {
    const key = this.find(name);
    if (key.state === "Disabled") throw new AwsError("DisabledException", `${this.arnOf(key)} is disabled.`);
    if (key.state !== undefined) throw invalidState(`${this.arnOf(key)} is pending deletion.`);
    return key;
  }

  setState(name: string, state: Key["state"]): Key {
    const { id } = this.find(name);
    const keys = this.#content.keys.map((key) => (key.id === id ? { ...key, state } : key));
    this.#save({ ...this.#content, keys });
    return this.find(name);
  }

  addAlias(alias: string, keyName: string): void {
    if (!ALIAS.test(alias))
      throw invalid(`${alias} is no alias: it must begin with alias/ and may not begin with alias/aws/.`);
    if (this.#content.aliases[alias])
      throw new AwsError("AlreadyExistsException", `An alias with the name ${alias} already exists.`);
    this.#save({ ...this.#content, aliases: { ...this.#content.aliases, [alias]: this.find(keyName).id } });
  }

  removeAlias(alias: string): void {
    const { [alias]: removed, ...aliases } = this.#content.aliases;
    if (removed === undefined) throw notFound(`Alias ${this.#arnBase}:${alias}`);
    this.#save({ ...this.#content, aliases });
  }

  arnOf(key: Key): string {
    return `${this.#arnBase}:key/${key.id}`;
  }

  /** A key that is lost takes every secret with it, so it is on the disk itself before it is used. */
  #save(content: z.infer<typeof fileSchema>): void {
    const aside = `${this.#file}.part`;
    const file = openSync(aside, "w", 0o600);
    writeSync(file, JSON.stringify(content));
    fsyncSync(file);
    closeSync(file);
    renameSync(aside, this.#file);
    const folder = openSync(dirname(this.#file), "r");
    fsyncSync(folder);
    closeSync(folder);
    this.#content = content;
  }
}

function contentOf(file: string): z.infer<typeof fileSchema> {
  try {
    return fileSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch (cause) {
    throw new Error(`${file} does not hold the keys of every credential any more: restore it from a copy`, { cause });
  }
}
