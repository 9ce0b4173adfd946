import type * as z from "zod/mini";
import { AwsError } from "../aws-error.ts";

export function invalid(message: string): AwsError {
  return new AwsError("ValidationException", message);
}

export function notFound(name: string): AwsError {
  return new AwsError("NotFoundException", `${name} is not found.`);
}

export function invalidState(message: string): AwsError {
  return new AwsError("KMSInvalidStateException", message);
}

/** What AWS says of a ciphertext that is damaged, foreign, or opened under another encryption context. */
export function invalidCiphertext(): AwsError {
  return new AwsError(
    "InvalidCiphertextException",
    "The ciphertext cannot be opened under this key and encryption context.",
  );
}

/** The refusal of an input that does not fit. */
export function refuse(issue: z.core.$ZodIssue): AwsError {
  return invalid(`1 validation error detected: ${issue.path.join(".") || "request"}: ${issue.message}`);
}
