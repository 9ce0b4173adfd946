import { ArrowLeftRight, Cable, KeyRound } from "lucide-react";
import { Suspense } from "react";
import { questions } from "../api/questions.ts";
import { useScopes } from "../api/scopes.ts";
import { useAnswer } from "../api/use.ts";
import { later } from "../parts/later.ts";
import { Bones, Card, Empty, Page } from "../parts/page.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { hrefOf } from "../route.ts";
import { Health } from "./overview/health.tsx";
import { Troubles } from "./overview/troubles.tsx";

/** What shows only once there are mappings. */
const Movement = later(async () => (await import("./overview/movement.tsx")).Movement);

/** Whether everything is in step, at one glance. */
export function Overview() {
  const { data, error, refetch } = useAnswer(questions.mappings, { everySeconds: 5 });
  return (
    <Page title="Overview">
      {error && !data && <Trouble error={error} again={() => void refetch()} title="The mappings could not be read." />}
      {data && <Troubles mappings={data.data} />}
      {data && data.data.length > 0 ? (
        <Suspense fallback={<Bones lines={6} />}>
          <Movement mappings={data.data}>
            <Health />
          </Movement>
        </Suspense>
      ) : (
        <Health />
      )}
      {!data && !error && (
        <Card padded={false}>
          <Bones lines={6} />
        </Card>
      )}
      {data?.data.length === 0 && <FirstSteps />}
    </Page>
  );
}

/** What an empty workspace needs, in order. */
function FirstSteps() {
  const { may } = useScopes();
  const { data } = useAnswer(questions.connections, { when: may("admin") });
  const isConnected = Boolean(data?.data.postgres && data.data.salesforce);
  if (!may("admin"))
    return (
      <Card padded={false}>
        <Empty icon={<KeyRound size={24} aria-hidden />} title="No mappings yet">
          A user with the scope admin connects the two sides and creates the first mapping.
        </Empty>
      </Card>
    );
  return (
    <Card padded={false}>
      {isConnected ? (
        <Empty
          icon={<ArrowLeftRight size={24} aria-hidden />}
          title="Both sides are connected. Now the first mapping"
          acts={
            <a className="button primary" href={hrefOf("/mappings/new")}>
              New mapping
            </a>
          }
        >
          Choose an object and its fields; the table is created and filled for you.
        </Empty>
      ) : (
        <Empty
          icon={<Cable size={24} aria-hidden />}
          title="Connect the two sides first"
          acts={
            <a className="button primary" href={hrefOf("/connections")}>
              To the connections
            </a>
          }
        >
          Bridge needs a PostgreSQL database and a Salesforce org. It takes some minutes, most of them in Salesforce's
          setup.
        </Empty>
      )}
    </Card>
  );
}
