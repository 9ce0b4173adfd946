import { questions } from "../../api/questions.ts";
import { useAnswer } from "../../api/use.ts";
import { Bones, Card, Page } from "../../parts/page.tsx";
import { Needs } from "../../parts/too-small.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { PostgresCard } from "./postgres.tsx";
import { SalesforceCard } from "./salesforce.tsx";

/** The two sides: what is connected, whether it holds, and how to connect it. */
export function Connections() {
  return (
    <Page title="Connections" says="Bridge connects one database with one Salesforce org.">
      <Needs scope="admin" what="Connections">
        <Both />
      </Needs>
    </Page>
  );
}

function Both() {
  const { data, error, refetch } = useAnswer(questions.connections);
  if (error && !data) return <Trouble error={error} again={() => void refetch()} />;
  if (!data)
    return (
      <Card padded={false}>
        <Bones lines={8} />
      </Card>
    );
  const { postgres, salesforce } = data.data;
  return (
    <div className="halves">
      <PostgresCard connection={postgres} />
      <SalesforceCard connection={salesforce} />
    </div>
  );
}
