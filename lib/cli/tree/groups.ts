import type { Command } from "commander";

/** The commands as the first page of the help shows them: by what a person is about to do, each in one line. */
const GROUPS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "Start:": {
    login: "sign in to an instance and a workspace",
    accept: "accept an invitation, and sign in",
    logout: "forget a sign-in",
    whoami: "show the instance, the workspace and the token in use",
    open: "open the console in the browser",
    doctor: "check everything, and say what to do",
  },
  "Everyday:": {
    health: "show both sides and the engine",
    row: "show one row on both sides, and its history",
    activity: "list changes of rows and their results",
    errors: "list, retry or dismiss rows that Salesforce refused",
    "inbound-errors": "list or retry records that could not become rows",
    conflicts: "list fields that changed on both sides",
    poll: "run a cycle now, and wait for its end",
    nudge: "send now what the application has committed",
  },
  "Set up:": {
    connect: "connect PostgreSQL and Salesforce",
    connections: "show what is connected",
    objects: "list objects of the org, or fields of one",
    mapping: "map Salesforce objects to tables",
    schema: "choose who changes the mapped tables; dumps and copies",
    types: "write mapped tables as TypeScript or Drizzle",
    doorbell: "have the org announce its changes",
    webhook: "send events to your own endpoints",
    config: "export, plan and import all mappings as one document",
    migrate: "move here from Heroku Connect",
  },
  "Operate:": {
    pause: "stop all pulls and pushes",
    resume: "end a pause",
    abort: "stop the cycle that is running",
    budget: "show and limit the org's API calls",
    audit: "list who did what",
    invite: "invite a person to the workspace",
    token: "create, rotate and revoke API tokens",
    workspace: "create, list, rename and delete workspaces",
    restore: "decide what waits after a database was restored",
    operator: "operate a deployment: tokens, pepper, encryption",
  },
  "On this machine:": {
    sql: "run SQL in the local PostgreSQL",
    soql: "run a query in the local Salesforce org",
    demo: "stop or start the writer of sample data",
    org: "run the local Salesforce org alone",
    completion: "complete commands in bash, zsh or fish",
  },
};

/** Groups the commands of the program; one that no group has would be listed at the end, under "Commands:". */
export function groupCommands(program: Command): void {
  // Whether a command has options says its own help.
  program.configureHelp({
    subcommandTerm: (command) => `${command.name()} ${command.usage().replace(/\[(options|command)\] ?/g, "")}`.trim(),
  });
  const order = Object.values(GROUPS).flatMap(Object.keys);
  const commands = program.commands as Command[];
  const rank = (command: Command) => (order.indexOf(command.name()) + order.length + 1) % (order.length + 1);
  commands.sort((one, other) => rank(one) - rank(other));
  for (const [heading, summaries] of Object.entries(GROUPS)) {
    for (const command of commands) {
      const summary = summaries[command.name()];
      if (summary !== undefined) command.summary(summary).helpGroup(heading);
    }
  }
}
