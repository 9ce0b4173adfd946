import { AwsError } from "../aws-error.ts";

export function invalid(message: string): AwsError {
  return new AwsError("ValidationException", message);
}

export function notFound(kind: "Schedule" | "Schedule group", name: string): AwsError {
  return new AwsError("ResourceNotFoundException", `${kind} ${name} does not exist.`, { status: 404 });
}

export function conflict(message: string): AwsError {
  return new AwsError("ConflictException", message, { status: 409 });
}
