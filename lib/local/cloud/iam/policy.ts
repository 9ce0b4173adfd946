import * as z from "zod/mini";

const oneOrMore = z.pipe(
  z.union([z.string(), z.array(z.string())]),
  z.transform((value) => [value].flat()),
);

const values = () => z._default(z.record(z.string(), oneOrMore), {});

// Strict, because a clause that is read over would allow what AWS refuses.
const statement = z.strictObject({
  Sid: z.optional(z.string()),
  Effect: z.literal("Allow"),
  Action: oneOrMore,
  Resource: oneOrMore,
  Condition: z.optional(z.strictObject({ StringEquals: values(), StringLike: values() })),
});

const document = z.object({
  Statement: z.pipe(
    z.unknown(),
    z.transform((value) => [value].flat()),
  ),
});

/** One sentence of an identity-based policy. Only what the templates of this project say is known. */
export type Statement = z.output<typeof statement>;

/** One action on one resource, as the IAM reference names it, with the keys that conditions ask for. */
export interface Demand {
  /** `dynamodb:GetItem` */
  readonly action: string;
  /** An ARN; `*` for actions that know no resource. */
  readonly resource: string;
  readonly keys?: Readonly<Record<string, string>>;
}

/** The statements of a policy document. Throws, naming the clause, at anything that is not enforced here. */
export function readPolicy(policy: unknown, of: string): Statement[] {
  return document.parse(policy).Statement.map((written) => {
    const read = statement.safeParse(written);
    if (read.success) return read.data;
    throw new Error(`the local cloud cannot enforce a statement of ${of}: ${z.prettifyError(read.error)}`);
  });
}

/** Whether some statement allows it. */
export function allows(statements: readonly Statement[], { action, resource, keys = {} }: Demand): boolean {
  return statements.some(
    ({ Action, Resource, Condition }) =>
      Action.some((pattern) => isLike(pattern.toLowerCase(), action.toLowerCase())) &&
      Resource.some((pattern) => isLike(pattern, resource)) &&
      Object.entries(Condition?.StringEquals ?? {}).every(([key, values]) => values.includes(keys[key] ?? "")) &&
      Object.entries(Condition?.StringLike ?? {}).every(([key, patterns]) =>
        patterns.some((pattern) => isLike(pattern, keys[key] ?? "")),
      ),
  );
}

/** Whether a text fits a pattern with `*` for anything and `?` for one character. */
function isLike(pattern: string, text: string): boolean {
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  return new RegExp(`^${source}$`, "s").test(text);
}
