import { createHash } from "node:crypto";
import type { MessageAttributes } from "./inputs.ts";

/** The MD5 of a text in lower-case hexadecimal. */
export function md5(text: string): string {
  return createHash("md5").update(text, "utf8").digest("hex");
}

/**
 * The MD5 of message attributes: names in order, each part preceded by its length, strings and numbers marked 1 and
 * binary values 2 (Amazon SQS Developer Guide, "Calculating the MD5 message digest for message attributes").
 */
export function md5OfAttributes(attributes: MessageAttributes): string {
  const hash = createHash("md5");
  const part = (bytes: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    hash.update(length).update(bytes);
  };
  for (const [name, value] of Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : 1))) {
    part(Buffer.from(name, "utf8"));
    part(Buffer.from(value.DataType, "utf8"));
    const isBinary = value.BinaryValue !== undefined;
    hash.update(Buffer.of(isBinary ? 2 : 1));
    part(isBinary ? Buffer.from(value.BinaryValue ?? "", "base64") : Buffer.from(value.StringValue ?? "", "utf8"));
  }
  return hash.digest("hex");
}
