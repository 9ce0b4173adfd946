import { readOptions } from "../../../lib/local/read-options.ts";
import { mapBothWays } from "./both-ways.ts";
import { compareOrgs } from "./compare-orgs.ts";
import { type Door, doorFromEnvironment } from "./door.ts";
import { startEmbeddedOrg } from "./embedded-org.ts";

const HELP = `npm run drill:salesforce [-- --against-embedded]

Asks the embedded org and a real Developer org the same by every method of the engine's own client, and prints every
difference between their answers. Then a Bridge of its own keeps one mapping in step with the real org,
both ways. Without credentials in the environment it says so in one line. Everything it creates in the real org it deletes
again. --against-embedded takes a second embedded org instead of the real one, which tries the drill itself.`;

const options = readOptions(HELP, { "against-embedded": { type: "boolean", default: false } });

if (options["against-embedded"]) {
  const second = await startEmbeddedOrg();
  await drill(second.door).finally(second.close);
} else {
  const real = await doorFromEnvironment(process.env);
  if (real) await drill(real);
  else
    console.log(
      "drill:salesforce skipped: set SALESFORCE_INSTANCE_URL and SALESFORCE_ACCESS_TOKEN, or SALESFORCE_LOGIN_URL, SALESFORCE_USERNAME and SALESFORCE_PASSWORD, to run it",
    );
}

/** Prints the result; any difference, and any step that went wrong, is in the exit code. */
async function drill(theirs: Door): Promise<void> {
  const ours = await startEmbeddedOrg();
  try {
    const { steps, differences, notes } = await compareOrgs(ours.door, theirs);
    for (const line of [...differences, ...notes]) console.log(line);
    console.log(`${steps} steps, ${differences.length} differences`);
    const mapped = await mapBothWays(theirs);
    for (const { name, wrong } of mapped) console.log(wrong === null ? `ok     ${name}` : `WRONG  ${name}: ${wrong}`);
    if (differences.length > 0 || mapped.some(({ wrong }) => wrong !== null)) process.exitCode = 1;
  } finally {
    await ours.close();
  }
}
