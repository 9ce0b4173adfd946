import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { describe, expect, test } from "vitest";
import { programOf } from "../../lib/cli/program.ts";
import type { Terminal } from "../../lib/cli/terminal.ts";
import { codeIn, DOCUMENTS, PROJECT, shellBlocks, textOf } from "./blocks.ts";
import { preparations } from "./preparations/preparations.ts";

const PROGRAM = programOf(() => async () => undefined, { stdout: {}, stderr: {}, env: {} } as unknown as Terminal);

/** What connections are called in `pg_stat_activity`. */
const NAMES_OF_CONNECTIONS = ["bridge long work", "bridge connecting"];

const documents = DOCUMENTS.filter((file) => existsSync(join(PROJECT, file)));

describe("in the documentation", () => {
  test.each(documents)("%s: every block of commands says how it can run", (file) => {
    for (const code of shellBlocks(file).flatMap(({ exits }) => exits)) expect(code).toBeGreaterThanOrEqual(0);
  });

  test("every block runs in a test, but for those that deploy to an AWS account or remove what is in it", () => {
    const skipped = documents.flatMap((file) => shellBlocks(file)).filter((block) => block.skipped !== null);

    expect(
      skipped.map(({ file, commands, skipped: why }) => `${file}: ${commands.split("\n").at(-1)}: ${why}`),
    ).toEqual([
      "README.md: npm run deploy: it needs an AWS account",
      "lib/docs/deploy.md: npm run deploy: it needs an AWS account",
      "lib/docs/deploy.md: sh deploy.sh your-bucket arn:aws:sns:eu-central-1:123456789012:operators: it needs an AWS account",
      "lib/docs/deploy.md: watch Endpoints api-faults: it needs an AWS account",
      "lib/docs/deploy.md: npx bridge workspace delete ws_… --stage dev: it needs an AWS account",
      'lib/docs/deploy.md: aws kms schedule-key-deletion --key-id "$key" --pending-window-in-days 30: it needs an AWS account',
      "lib/docs/upgrade.md: npm run deploy -- -c stage=prod -c alarmTopicArn=arn:aws:sns:eu-central-1:123456789012:operators: it deploys to an AWS account",
      'lib/infra/RUNBOOK.md: aws kms enable-key --key-id "$(aws kms describe-key --key-id alias/bridge-prod --query KeyMetadata.KeyId --output text)": it needs an AWS account',
      'lib/infra/RUNBOOK.md: aws dynamodb update-time-to-live --table-name "$table" --time-to-live-specification Enabled=true,AttributeName=expires_at: it needs an AWS account',
    ]);
  });

  test("every preparation is that of a block, and there is each that a block names", () => {
    const used = documents.flatMap((file) => shellBlocks(file).flatMap(({ preparation }) => preparation ?? []));

    expect([...new Set(used)].toSorted()).toEqual(Object.keys(preparations).toSorted());
  });

  test.each(documents)("%s: every command of bridge and every option is one that exists", (file) => {
    expect(codeIn(textOf(file)).flatMap(mistakesIn)).toEqual([]);
  });
});

test.each([
  ["npx bridge mapping lst", ["npx bridge mapping lst: bridge mapping has no command lst"]],
  ["npx bridge errors --regroup", ["npx bridge errors --regroup: bridge errors has no option --regroup"]],
  ['npx bridge sql "SELECT 1" && npx bridge mapping create Contact --fields LastName --json', []],
  ["the role bridge", []],
])("a page with `%s` has the mistakes %j", (code, mistakes) => {
  expect(mistakesIn(code)).toEqual(mistakes);
});

test("a block that is not marked as it should is refused with its place", () => {
  const read = (words: string) => shellBlocks("page.md", `# Title\n\n\`\`\`${words}\nnpx bridge whoami\n\`\`\`\n`);

  expect(() => read("")).toThrow("page.md:4: mark these commands as sh");
  expect(() => read("sh later")).toThrow(
    'page.md:4: after sh write nothing, "skip: why", "exits: code" or "with: name"',
  );
  expect(read("sh exits: 0 or 10")).toMatchObject([{ line: 4, exits: [0, 10], skipped: null, preparation: null }]);
});

/** What is wrong with the commands of bridge in a line of code. */
function mistakesIn(code: string): string[] {
  if (NAMES_OF_CONNECTIONS.includes(code)) return [];
  return [...code.replace(/\s#\s.*/, "").matchAll(/(?:^|npx |\$\(|&& )bridge ((?:[^|&)"]|"[^"]*")+)/g)].flatMap(
    ([, words = ""]) => {
      const problem = problemOf(words.replaceAll(/"[^"]*"/g, "…").split(/[\s,;]+/));
      return problem === null ? [] : [`${code}: ${problem}`];
    },
  );
}

function problemOf(words: readonly string[]): string | null {
  let command: Command = PROGRAM;
  let path = "bridge";
  for (const word of words) {
    const next = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (next) {
      command = next;
      path += ` ${word}`;
    } else if (word.startsWith("--")) {
      const name = word.split("=")[0] ?? "";
      const known = [...command.options, ...PROGRAM.options].some(({ long }) => long === name) || name === "--help";
      if (!known) return `${path} has no option ${name}`;
    } else if (command.commands.length > 0 && command.registeredArguments.length === 0 && /^[a-z][a-z-]+$/.test(word)) {
      return `${path} has no command ${word}`;
    }
  }
  return null;
}
