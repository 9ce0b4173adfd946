import type { Caller } from "../iam/guard.ts";
import { allows, readPolicy } from "../iam/policy.ts";
import type { EventSource } from "./events/event-source.ts";
import type { Assembly } from "./template/assembly.ts";
import { type LambdaFunction, resourcesOfType } from "./template/functions.ts";
import type { Resolve } from "./template/resolve.ts";

interface RoleProperties {
  readonly Policies?: readonly { readonly PolicyDocument: unknown }[];
  readonly ManagedPolicyArns?: readonly unknown[];
}

/** What each function may do: the policies in its role. Throws at a role whose permissions are elsewhere. */
export function readPolicies(assembly: Assembly, resolve: Resolve, functions: readonly LambdaFunction[]): Caller[] {
  const roles = new Map(
    resourcesOfType<RoleProperties>(assembly, resolve, "AWS::IAM::Role").map(({ id, stack, properties }) => [
      String(resolve(stack, { "Fn::GetAtt": [id, "Arn"] })),
      properties,
    ]),
  );
  return functions.map(({ name, role }) => {
    const { Policies = [], ManagedPolicyArns = [] } = roles.get(role) ?? {};
    if (ManagedPolicyArns.length > 0) throw new Error(`the local cloud does not know the managed policies of ${name}`);
    return { name, statements: Policies.flatMap(({ PolicyDocument }) => readPolicy(PolicyDocument, name)) };
  });
}

/** Refuses a queue that its function may not read, as the creation of the event source is refused on AWS. */
export function checkEventSources(sources: readonly EventSource[], callers: readonly Caller[]): void {
  for (const { queueArn, target } of sources) {
    const { statements = [] } = callers.find(({ name }) => name === target.name) ?? {};
    for (const action of ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"]) {
      if (allows(statements, { action, resource: queueArn })) continue;
      throw new Error(`${target.name} reads ${queueArn}, but its role does not allow ${action}`);
    }
  }
}
