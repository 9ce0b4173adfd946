import { createHash } from "node:crypto";
import type { NamedRequest, Repeats } from "../access/repeats.ts";
import { Failure } from "../model/failure.ts";
import type { Answer } from "./answer.ts";
import { invalid } from "./input.ts";

interface Asked {
  readonly workspaceId: string;
  readonly tokenId: string;
  /** The Idempotency-Key header. */
  readonly key: string;
  /** Everything that the request says. */
  readonly content: readonly unknown[];
  readonly at: Date;
}

/** Headers that belong to the answer and not to the moment in which it is given. */
const KEPT_HEADERS = ["Content-Type", "ETag", "Bridge-Cycle"];

/**
 * Carries a named request out once: a repetition within 24 hours gets the same answer. The same name for another
 * request is refused with IDEMPOTENCY_MISMATCH, one that still runs with CONFLICT. What was refused or failed may be
 * sent again under the same name.
 */
export async function oncePerKey(repeats: Repeats, asked: Asked, run: () => Promise<Answer>): Promise<Answer> {
  const request = named(asked);
  const beginning = await repeats.begin(request, asked.at);
  switch (beginning.state) {
    case "done":
      return { ...beginning.answer, headers: { ...beginning.answer.headers, "Idempotent-Replayed": "true" } };
    case "other":
      throw new Failure("IDEMPOTENCY_MISMATCH", "this Idempotency-Key was given to another request: use a new one");
    case "running":
      throw new Failure("CONFLICT", "the request with this Idempotency-Key is still being carried out: ask again", {
        headers: { "Retry-After": "1" },
      });
    case "first":
      return runFirst(repeats, request, asked.at, run);
  }
}

async function runFirst(
  repeats: Repeats,
  request: NamedRequest,
  at: Date,
  run: () => Promise<Answer>,
): Promise<Answer> {
  let answer: Answer;
  try {
    answer = await run();
  } catch (error) {
    await repeats.release(request);
    throw error;
  }
  const { statusCode, headers, body } = answer;
  if (typeof body !== "string") return answer;
  const kept = Object.entries(headers).filter(([name]) => KEPT_HEADERS.includes(name));
  await repeats.keep(request, { statusCode, headers: Object.fromEntries(kept), body }, at);
  return answer;
}

function named({ workspaceId, tokenId, key, content }: Asked): NamedRequest {
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw invalid([{ path: "Idempotency-Key", message: "must be 1 to 255 visible ASCII characters" }]);
  }
  const fingerprint = createHash("sha256").update(JSON.stringify(content)).digest("base64url");
  return { workspaceId, tokenId, key, fingerprint };
}
