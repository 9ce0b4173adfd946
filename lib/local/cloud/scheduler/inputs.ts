import * as z from "zod/mini";

/** What the scheduler accepts. A parameter that is not listed is refused. Times are epoch seconds. */

const name = z.string().check(z.regex(/^[0-9a-zA-Z_.-]+$/), z.minLength(1), z.maxLength(64));
const clientToken = z.string().check(z.regex(/^[a-zA-Z0-9_-]{1,64}$/));
const arn = z.string().check(z.regex(/^arn:aws[a-z-]*:.+$/), z.maxLength(1_600));

const target = z.strictObject({
  Arn: arn,
  RoleArn: z.string().check(z.regex(/^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@/-]+$/)),
  Input: z.string().check(z.minLength(1), z.maxLength(262_144)),
  RetryPolicy: z.optional(
    z.strictObject({
      MaximumEventAgeInSeconds: z.optional(z.int().check(z.minimum(60), z.maximum(86_400))),
      MaximumRetryAttempts: z.optional(z.int().check(z.minimum(0), z.maximum(185))),
    }),
  ),
  DeadLetterConfig: z.optional(z.strictObject({ Arn: z.optional(arn) })),
  SqsParameters: z.optional(z.strictObject({ MessageGroupId: z.optional(z.string()) })),
});

const flexibleTimeWindow = z.discriminatedUnion("Mode", [
  z.strictObject({ Mode: z.literal("OFF") }),
  z.strictObject({
    Mode: z.literal("FLEXIBLE"),
    MaximumWindowInMinutes: z.int().check(z.minimum(1), z.maximum(1_440)),
  }),
]);

/** The body of CreateSchedule and UpdateSchedule. */
export const scheduleInput = z.strictObject({
  GroupName: z._default(name, "default"),
  ScheduleExpression: z.string().check(z.minLength(1), z.maxLength(256)),
  ScheduleExpressionTimezone: z._default(z.literal(["UTC", "Etc/UTC"], "the embedded cloud knows UTC alone"), "UTC"),
  StartDate: z.optional(z.number()),
  EndDate: z.optional(z.number()),
  Description: z._default(z.string().check(z.maxLength(512)), ""),
  State: z._default(z.enum(["ENABLED", "DISABLED"]), "ENABLED"),
  FlexibleTimeWindow: flexibleTimeWindow,
  Target: target,
  ActionAfterCompletion: z._default(z.enum(["NONE", "DELETE"]), "NONE"),
  ClientToken: z.optional(clientToken),
});

export const groupInput = z.strictObject({
  Tags: z.optional(z.array(z.strictObject({ Key: z.string(), Value: z.string() }))),
  ClientToken: z.optional(clientToken),
});

const page = {
  NamePrefix: z._default(z.string().check(z.regex(/^[0-9a-zA-Z_.-]{1,64}$/)), ""),
  MaxResults: z._default(z.coerce.number().check(z.int(), z.minimum(1), z.maximum(100)), 100),
  NextToken: z._default(z.string(), ""),
};

/** The query of ListSchedules. */
export const listSchedulesInput = z.strictObject({
  ...page,
  ScheduleGroup: z.optional(name),
  State: z.optional(z.enum(["ENABLED", "DISABLED"])),
});

/** The query of ListScheduleGroups. */
export const listGroupsInput = z.strictObject(page);

/** The query of GetSchedule and DeleteSchedule. */
export const oneScheduleInput = z.strictObject({
  groupName: z._default(name, "default"),
  clientToken: z.optional(clientToken),
});

/** The query of GetScheduleGroup and DeleteScheduleGroup. */
export const oneGroupInput = z.strictObject({ clientToken: z.optional(clientToken) });

export { name as nameInput };

/** A schedule as its maker describes it, defaults filled in. */
export type ScheduleDefinition = z.infer<typeof scheduleInput>;
