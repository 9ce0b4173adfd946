import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { keepCall, refuse } from "./stub.ts";

// Replaces the Salesforce CLI, which has a default org: `sf project deploy start --metadata-dir FOLDER`.

/** The file of the Metadata API that holds a member of a package. */
const FILES: Readonly<Record<string, (member: string) => string>> = {
  Flow: (member) => `flows/${member}.flow`,
  WorkflowOutboundMessage: (member) => `workflows/${member.split(".")[0]}.workflow`,
};

const { values, positionals } = parseArgs({
  options: { "metadata-dir": { type: "string" }, "target-org": { type: "string", short: "o" } },
  allowPositionals: true,
});
if (positionals.join(" ") !== "project deploy start") refuse("sf has no such command");
const folder = values["metadata-dir"];
if (folder === undefined || !existsSync(join(folder, "package.xml"))) refuse("there is no package.xml in the folder");
for (const [, types = ""] of readFileSync(join(folder, "package.xml"), "utf8").matchAll(/<types>(.*?)<\/types>/gs)) {
  const fileOf = FILES[/<name>(.*?)<\/name>/.exec(types)?.[1] ?? ""];
  if (!fileOf) refuse("the package has a type that it does not know");
  for (const [, member = ""] of types.matchAll(/<members>(.*?)<\/members>/g))
    if (!existsSync(join(folder, fileOf(member)))) refuse(`the package has no ${fileOf(member)}`);
}
keepCall("sf");
