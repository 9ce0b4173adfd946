import { useState } from "react";
import { questions } from "../../api/questions.ts";
import { useScopes } from "../../api/scopes.ts";
import { useAnswer } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { Copy } from "../../parts/copy.tsx";
import { Card } from "../../parts/page.tsx";

const HIDDEN = "bridge.try-it.hidden";

/** What to type first, in the demo workspace that `npm start` makes on this machine; hidden for good when asked to. */
export function TryIt() {
  const { may } = useScopes();
  const [isHidden, setHidden] = useState(() => localStorage.getItem(HIDDEN) !== null);
  const isHere = ["127.0.0.1", "localhost"].includes(location.hostname);
  const { data: workspace } = useAnswer(questions.workspace, { when: isHere && !isHidden });
  const isDemo = workspace?.data.name === "demo";
  const { data: connections } = useAnswer(questions.connections, { when: isDemo && may("admin") });
  const { postgres, salesforce } = connections?.data ?? {};
  if (isHidden || !isDemo || postgres?.host !== "127.0.0.1" || !salesforce) return null;
  const hide = () => {
    localStorage.setItem(HIDDEN, "yes");
    setHidden(true);
  };
  return (
    <Card
      title="Try it"
      acts={
        <Button compact onClick={hide}>
          Hide
        </Button>
      }
    >
      <div className="form">
        <p>
          Type these in the project's folder, and watch the figures here. What you write is on the other side within ten
          seconds.
        </p>
        {linesFor(salesforce.instance_url).map(({ what, line }) => (
          <div key={what}>
            <h3>{what}</h3>
            <div className="secret">
              <code>{line}</code>
              <Copy text={line} name={what} />
            </div>
          </div>
        ))}
      </div>
    </Card>
  );
}

/** A value of the file that `npm start` keeps for scripts, so that no password is on the page. */
const kept = (path: string): string => `$(node -p "require('./.bridge/instance.json').${path}")`;

const linesFor = (org: string) => [
  {
    what: "Write a row with psql",
    line: `psql "${kept("database_url")}" -c "INSERT INTO salesforce.contact (firstname, lastname, email) VALUES ('Ada', 'Lovelace', 'ada@example.com')"`,
  },
  { what: "See its result", line: "npx bridge activity --follow" },
  {
    what: "Change a record in Salesforce",
    line: `curl -X PATCH ${org}/services/data/v68.0/sobjects/Contact/External_Id__c/demo-contact-2 -H "Authorization: Bearer ${kept("salesforce.access_token")}" -H "Content-Type: application/json" -d '{"LastName":"Hopper","Title":"Admiral"}'`,
  },
  { what: "End the writer that changes sample rows, which ends after an hour", line: "npx bridge demo stop" },
];
