import type { TestPostgresData } from "bridge/api";
import { type ReactNode, useState } from "react";
import { useAct } from "../../api/use.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { Card } from "../../parts/page.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { Findings } from "./findings.tsx";

interface ConnectionCardProps {
  readonly title: string;
  /** What is connected now, as terms and their descriptions; null: nothing is. */
  readonly facts: ReactNode | null;
  /** The path that tests the connection. */
  readonly testPath: string;
  /** What another one is called, as in "Connect another database". */
  readonly noun: string;
  /** The form that connects; it is given what to do when it is done, and a button that leaves it unless it is the first one. */
  readonly form: (onDone: () => void, cancel: ReactNode) => ReactNode;
}

/** One side of the workspace: where it is, whether it can do what is asked of it, and how to connect another. */
export function ConnectionCard({ title, facts, testPath, noun, form }: ConnectionCardProps) {
  const [changes, setChanges] = useState(false);
  const test = useAct<TestPostgresData>(() => ({ method: "POST", path: testPath }));
  const isConnected = facts !== null;
  const onDone = () => setChanges(false);
  const cancel = isConnected && (
    <Button kind="plain" onClick={onDone}>
      Cancel
    </Button>
  );
  return (
    <Card
      title={title}
      acts={isConnected ? <Badge tone="good">connected</Badge> : <Badge tone="warn">not connected</Badge>}
    >
      <div className="stack">
        {isConnected && <dl className="facts">{facts}</dl>}
        {isConnected && !changes && (
          <>
            <div className="acts">
              <Button busy={test.isPending} onClick={() => test.mutate()}>
                Check
              </Button>
              <Button kind="plain" onClick={() => setChanges(true)}>
                Connect another {noun}
              </Button>
            </div>
            {test.data && <Findings report={test.data.data} />}
            {test.error && <Trouble error={test.error} title={`The ${noun} could not be checked.`} />}
          </>
        )}
        {(!isConnected || changes) && form(onDone, cancel)}
      </div>
    </Card>
  );
}
