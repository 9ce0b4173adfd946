import type { AcceptRestoreBody, AcceptRestoreData, ReadMappingData, ReadRestorePlanData } from "bridge/api";
import { useState } from "react";
import { questions } from "../../api/questions.ts";
import { useScopes } from "../../api/scopes.ts";
import { useAct, useAnswer } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { Choice } from "../../parts/field.tsx";
import { Bones, Card } from "../../parts/page.tsx";
import { useSay } from "../../parts/toast.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { counted } from "../../parts/words.ts";

type Plan = ReadRestorePlanData["mappings"][number];
type Group = Plan["groups"][number];

/** Decisions that differ from the plan's: of groups by their names, of rows by `row 42`. */
type Decisions = Readonly<Record<string, string>>;

const DECISIONS: readonly (readonly [string, string])[] = [
  ["salesforce", "the row takes Salesforce's values"],
  ["ours", "the row is sent"],
  ["leave", "it waits"],
];

/** What a mapping holds back since a restore, and a decision for each group of it. */
export function Restored({ mapping }: { readonly mapping: ReadMappingData }) {
  const { data, error, refetch } = useAnswer(questions.restorePlan, { everySeconds: 10 });
  const [decisions, setDecisions] = useState<Decisions>({});
  const [isAsking, setIsAsking] = useState(false);
  const { refusal } = useScopes();
  const plan = data?.data.mappings.find(({ mapping_id }) => mapping_id === mapping.id);
  if (error && !data) return <Trouble error={error} again={() => void refetch()} />;
  if (!plan) return <Bones lines={3} />;
  return (
    <Card title="After the restore">
      {plan.changed_since.map(({ setting, database, here }) => (
        <p key={setting}>
          <code>{setting}</code> is {database || "empty"} in the database, {here || "empty"} in this mapping. Correct it
          first if the database's value should stay.
        </p>
      ))}
      {plan.groups.length === 0 && <p>No change waits for a decision.</p>}
      {plan.groups.map((group) => (
        <Decide
          key={group.group}
          group={group}
          decisions={decisions}
          onDecide={(name, decision) => setDecisions({ ...decisions, [name]: decision })}
        />
      ))}
      <Button kind="primary" refused={refusal("admin")} onClick={() => setIsAsking(true)}>
        Accept the restore
      </Button>
      {isAsking && <Accept mapping={mapping} decisions={decisions} onClose={() => setIsAsking(false)} />}
    </Card>
  );
}

interface DecideProps {
  readonly group: Group;
  readonly decisions: Decisions;
  readonly onDecide: (name: string, decision: string) => void;
}

function Decide({ group: { group, rows, means, decision, samples }, decisions, onDecide }: DecideProps) {
  if (group === null) return <p>{counted(rows, "row")} waiting to be looked up in Salesforce.</p>;
  const options = group === "only_here" ? DECISIONS.filter(([name]) => name !== "salesforce") : DECISIONS;
  return (
    <>
      <Choice
        label={`${counted(rows, "row")}: ${means}`}
        options={options}
        value={decisions[group] ?? decision}
        onChange={({ target }) => onDecide(group, target.value)}
      />
      {samples.filter(isFirstOfItsRow).map(({ record_id, message }) => (
        <Choice
          key={record_id}
          label={`Row ${record_id}`}
          hint={message}
          options={[["", "as the group"], ...options]}
          value={decisions[`row ${record_id}`] ?? ""}
          onChange={({ target }) => onDecide(`row ${record_id}`, target.value)}
        />
      ))}
    </>
  );
}

const isFirstOfItsRow = (one: Group["samples"][number], at: number, all: Group["samples"]): boolean =>
  all.findIndex(({ record_id }) => record_id === one.record_id) === at;

interface AcceptProps {
  readonly mapping: ReadMappingData;
  readonly decisions: Decisions;
  readonly onClose: () => void;
}

function Accept({ mapping, decisions, onClose }: AcceptProps) {
  const say = useSay();
  const accept = useAct<AcceptRestoreData, AcceptRestoreBody>((body) => ({
    method: "POST",
    path: `/mappings/${mapping.id}/accept-restore`,
    body,
  }));
  return (
    <Confirm
      open
      onClose={onClose}
      title={`Accept the restore of ${mapping.sf_object}?`}
      act="Accept and send"
      kind="primary"
      busy={accept.isPending}
      error={accept.error}
      onAct={() =>
        accept.mutate(bodyOf(decisions), {
          onSuccess: ({ data }) => {
            onClose();
            say.done(`${mapping.sf_object} sends again`, `${counted(data.decided, "restored row")} decided.`);
          },
        })
      }
    >
      <p>What waits is decided as shown, and changes are sent again. There is no way back.</p>
    </Confirm>
  );
}

/** Decisions as the API takes them; a row without one goes as its group. */
function bodyOf(decisions: Decisions): AcceptRestoreBody {
  const named = Object.entries(decisions).filter(([, decision]) => decision !== "");
  const rows = named.filter(([name]) => name.startsWith("row "));
  return {
    ...Object.fromEntries(named.filter(([name]) => !name.startsWith("row "))),
    rows: rows.map(([name, decision]) => ({
      record_id: Number(name.slice("row ".length)),
      decision: decision as "salesforce" | "ours" | "leave",
    })),
  };
}
