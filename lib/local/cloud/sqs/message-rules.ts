import { invalidValue, sqsError, within } from "./errors.ts";
import type { MessageAttributes, Outgoing } from "./inputs.ts";

/** The largest message and the largest batch, in bytes of UTF-8, attributes included. */
export const MAXIMUM_BYTES = 1_048_576;

/** The longest delay of a single message. */
const MAXIMUM_DELAY_SECONDS = 900;

const ALLOWED_CHARACTERS = /^[\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]*$/u;
const ATTRIBUTE_NAME = /^(?!\.)(?!.*\.\.)(?!(aws|amazon)\.)[A-Za-z0-9_.-]{1,256}(?<!\.)$/i;
const ATTRIBUTE_TYPE = /^(String|Number|Binary)(\.[^\s]{1,240})?$/;
const GROUP_ID = /^[\x21-\x7E]{1,128}$/;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

/** The size of a message that keeps every rule, or the refusal of the first rule that it breaks. */
export function checkedBytes(message: Outgoing, maximumBytes: number): number {
  if (message.DelaySeconds !== undefined) within("DelaySeconds", message.DelaySeconds, 0, MAXIMUM_DELAY_SECONDS);
  checkBody(message.MessageBody);
  checkGroup(message);
  checkAttributes(message.MessageAttributes ?? {});
  checkSystemAttributes(message.MessageSystemAttributes ?? {});
  const bytes = Buffer.byteLength(message.MessageBody) + bytesOfAttributes(message.MessageAttributes ?? {});
  if (bytes > maximumBytes) {
    throw sqsError(
      "InvalidParameterValue",
      `One or more parameters are invalid. Reason: Message must be shorter than ${maximumBytes} bytes.`,
    );
  }
  return bytes;
}

function checkBody(body: string): void {
  if (body.length === 0) throw sqsError("MissingParameter", "The request must contain the parameter MessageBody.");
  if (!ALLOWED_CHARACTERS.test(body)) {
    throw sqsError("InvalidMessageContents", "The message contains characters outside the allowed set (XML 1.0).");
  }
}

function checkGroup(message: Outgoing): void {
  if (message.MessageDeduplicationId !== undefined) {
    throw invalidValue(
      "MessageDeduplicationId",
      message.MessageDeduplicationId,
      "The request includes a parameter that is not valid for this queue type",
    );
  }
  if (message.MessageGroupId !== undefined && !GROUP_ID.test(message.MessageGroupId)) {
    throw invalidValue(
      "MessageGroupId",
      message.MessageGroupId,
      "MessageGroupId can only include 1 to 128 alphanumeric and punctuation characters",
    );
  }
}

function checkAttributes(attributes: MessageAttributes): void {
  const entries = Object.entries(attributes);
  if (entries.length > 10) {
    throw invalidValue("MessageAttributes", entries.length, "A message may have at most 10 attributes");
  }
  for (const [name, value] of entries) {
    if (!ATTRIBUTE_NAME.test(name)) throw invalidValue("MessageAttributeName", name, "The name is not allowed");
    checkAttributeValue(name, value);
  }
}

function checkAttributeValue(name: string, { DataType, StringValue, BinaryValue }: MessageAttributes[string]): void {
  const kind = ATTRIBUTE_TYPE.exec(DataType)?.[1];
  const refuse = (reason: string) => invalidValue(`MessageAttributes.${name}`, DataType, reason);
  if (!kind) throw refuse("The type must be String, Number or Binary, optionally with a custom label");
  const value = kind === "Binary" ? BinaryValue : StringValue;
  if (!value) throw refuse(`The attribute must contain a non-empty value of type ${kind}`);
  if (StringValue !== undefined && BinaryValue !== undefined) throw refuse("Only one kind of value is allowed");
  if (kind === "Number" && !NUMBER.test(value)) throw refuse("Can't cast the value to a number");
  if (kind === "String" && !ALLOWED_CHARACTERS.test(value))
    throw refuse("The value has characters that are not allowed");
}

function checkSystemAttributes(attributes: MessageAttributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (name !== "AWSTraceHeader" || value.DataType !== "String" || !value.StringValue) {
      throw invalidValue("MessageSystemAttributes", name, "Only AWSTraceHeader of type String is allowed");
    }
  }
}

function bytesOfAttributes(attributes: MessageAttributes): number {
  let bytes = 0;
  for (const [name, { DataType, StringValue, BinaryValue }] of Object.entries(attributes)) {
    bytes += Buffer.byteLength(name) + Buffer.byteLength(DataType);
    bytes += Buffer.byteLength(StringValue ?? "") + Buffer.byteLength(BinaryValue ?? "", "base64");
  }
  return bytes;
}
