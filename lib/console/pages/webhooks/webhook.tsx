import type { ChangeWebhookBody, ReadWebhookData, RotateWebhookSecretData, TestWebhookData } from "bridge/api";
import { History, KeyRound, Pause, Pencil, Play, Send, Trash2 } from "lucide-react";
import { useState } from "react";
import { questions } from "../../api/questions.ts";
import { useScopes } from "../../api/scopes.ts";
import { useAct, useAnswer } from "../../api/use.ts";
import { ActButton } from "../../parts/acts/act-button.tsx";
import { ActForm, useFields } from "../../parts/acts/act-form.tsx";
import { Button } from "../../parts/button.tsx";
import { Secret } from "../../parts/copy.tsx";
import { Confirm, Dialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { Menu } from "../../parts/menu.tsx";
import { Bones, Card, Page } from "../../parts/page.tsx";
import { Ago, Time, useNow } from "../../parts/time.tsx";
import { useSay } from "../../parts/toast.tsx";
import { Notice, Trouble } from "../../parts/trouble.tsx";
import { go, hrefOf, usePlace } from "../../route.ts";
import { Deliveries } from "./deliveries.tsx";
import { EventChoice } from "./event-choice.tsx";
import { Replay } from "./replay.tsx";
import { WebhookState } from "./webhooks.tsx";

/** One webhook: its events, their deliveries, and everything that can be done with it. */
export function WebhookPage({ id }: { readonly id: string }) {
  const { data, error, refetch } = useAnswer(questions.webhook(id), { everySeconds: 5 });
  const webhook = data?.data;
  return (
    <Page
      title={webhook ? new URL(webhook.url).host : "Webhook"}
      beside={webhook && <WebhookState webhook={webhook} />}
      says={webhook && <span className="breaks">{webhook.url}</span>}
      acts={webhook && <Acts webhook={webhook} />}
    >
      {error && !webhook && <Trouble error={error} again={() => void refetch()} />}
      {!webhook && !error && (
        <Card padded={false}>
          <Bones lines={8} />
        </Card>
      )}
      {webhook && <Body webhook={webhook} />}
    </Page>
  );
}

function Body({ webhook }: { readonly webhook: ReadWebhookData }) {
  return (
    <>
      {webhook.failing_since && (
        <Notice tone="bad" title={webhook.given_up ? "Deliveries fail for good" : "Deliveries fail"}>
          <p>
            Since <Time at={webhook.failing_since} />, <Ago at={webhook.failing_since} />. The attempts below say why.
            Failed deliveries are retried automatically, four times over two and a half hours, and can be retried by
            hand for 30 days.
          </p>
          {webhook.given_up && (
            <p>
              The first ones are given up. Once your endpoint answers, “Replay missed deliveries” under More sends them
              again.
            </p>
          )}
        </Notice>
      )}
      {webhook.previous_secret_valid_until && <Overlap until={webhook.previous_secret_valid_until} />}
      <Deliveries webhookId={webhook.id} />
      <Card title="Settings">
        <dl className="facts">
          <dt>Description</dt>
          <dd>{webhook.description || <span className="muted">none</span>}</dd>
          <dt>Events</dt>
          <dd className="mono">{webhook.events.join(", ")}</dd>
          <dt>Signing secret</dt>
          <dd>
            <RotateSecret path={`/webhooks/${webhook.id}`} />
          </dd>
          <dt>Created</dt>
          <dd>
            <Ago at={webhook.created_at} />
          </dd>
          <dt>Id</dt>
          <dd className="mono">{webhook.id}</dd>
        </dl>
      </Card>
    </>
  );
}

/** After a rotation both secrets sign, until this moment. */
function Overlap({ until }: { readonly until: string }) {
  const now = useNow(1000);
  if (Date.parse(until) <= now) return null;
  return (
    <Notice
      tone="warn"
      title={
        <>
          The old secret signs as well, and ends <Ago at={until} />
        </>
      }
    >
      Until <Time at={until} /> each delivery carries <code>X-Bridge-Signature-Previous</code>, so that your endpoint
      can change over without missing one.
    </Notice>
  );
}

type Asked = "change" | "replay" | "delete" | null;

function Acts({ webhook }: { readonly webhook: ReadWebhookData }) {
  const [asked, setAsked] = useState<Asked>(null);
  const { refusal } = useScopes();
  const say = useSay();
  const path = `/webhooks/${webhook.id}`;
  const test = useAct<TestWebhookData>(() => ({ method: "POST", path: `${path}/test` }));
  const change = useAct<unknown, ChangeWebhookBody>((body) => ({ method: "PATCH", path, body }));
  const remove = useAct<unknown>(() => ({ method: "DELETE", path }));
  const refused = refusal("admin");
  return (
    <>
      <ActButton
        act={test}
        scope="admin"
        done={() => ["A test is on its way", "It appears below in a moment, with the receiver's answer."]}
        icon={<Send size={15} aria-hidden />}
      >
        Send a test
      </ActButton>
      <Menu
        label="More"
        acts={[
          { name: "Change", icon: <Pencil size={16} aria-hidden />, refused, onAct: () => setAsked("change") },
          {
            name: webhook.active ? "Pause" : "Activate",
            icon: webhook.active ? <Pause size={16} aria-hidden /> : <Play size={16} aria-hidden />,
            refused,
            onAct: () => change.mutate({ active: !webhook.active }, { onError: say.failed }),
          },
          {
            name: "Replay missed deliveries",
            icon: <History size={16} aria-hidden />,
            refused: refusal("operate"),
            onAct: () => setAsked("replay"),
          },
          {
            name: "Delete webhook",
            icon: <Trash2 size={16} aria-hidden />,
            refused,
            danger: true,
            onAct: () => setAsked("delete"),
          },
        ]}
      />
      <Dialog open={asked === "change"} onClose={() => setAsked(null)} title="Change webhook" broad>
        <ChangeForm webhook={webhook} onDone={() => setAsked(null)} />
      </Dialog>
      {asked === "replay" && <Replay webhook={webhook} onDone={() => setAsked(null)} />}
      <Confirm
        open={asked === "delete"}
        onClose={() => setAsked(null)}
        title="Delete this webhook?"
        act="Delete webhook"
        busy={remove.isPending}
        error={remove.error}
        onAct={() =>
          remove.mutate(undefined, {
            onSuccess: () => {
              say.done("The webhook is deleted");
              go(hrefOf("/webhooks"));
            },
          })
        }
      >
        <p className="breaks">
          {webhook.url} receives nothing any more. Unfinished deliveries are not sent, and its history is deleted.
        </p>
      </Confirm>
    </>
  );
}

function ChangeForm({ webhook, onDone }: { readonly webhook: ReadWebhookData; readonly onDone: () => void }) {
  const change = useAct<unknown, ChangeWebhookBody>((body) => ({
    method: "PATCH",
    path: `/webhooks/${webhook.id}`,
    body,
  }));
  const { texts, field } = useFields({ url: webhook.url, description: webhook.description }, change.error);
  const [events, setEvents] = useState<readonly (typeof webhook.events)[number][]>(webhook.events);
  return (
    <ActForm
      act={change}
      onSubmit={() => change.mutate({ ...texts, events }, { onSuccess: onDone })}
      button="Save changes"
      failed="The webhook was not changed."
      refused={events.length === 0 ? "Choose at least one event." : null}
    >
      <Field label="URL" type="url" {...field("url")} required />
      <Field label="Description" {...field("description")} maxLength={255} />
      <EventChoice chosen={events} onChange={setEvents} />
    </ActForm>
  );
}

/** Asks in a dialog, which has an address, so that a search opens it as well. */
function RotateSecret({ path }: { readonly path: string }) {
  const { refusal } = useScopes();
  const isAsked = usePlace().query.has("rotate");
  return (
    <>
      <Button
        compact
        icon={<KeyRound size={14} aria-hidden />}
        refused={refusal("admin")}
        onClick={() => go(hrefOf(path, { rotate: "true" }))}
      >
        Rotate the secret
      </Button>
      {isAsked && <Rotate path={path} onDone={() => go(hrefOf(path), "replace")} />}
    </>
  );
}

function Rotate({ path, onDone }: { readonly path: string; readonly onDone: () => void }) {
  const rotate = useAct<RotateWebhookSecretData>(() => ({ method: "POST", path: `${path}/rotate-secret` }));
  const { secret } = rotate.data?.data ?? {};
  return (
    <Dialog open onClose={onDone} title="Rotate the signing secret" holds={secret !== undefined}>
      {secret ? (
        <>
          <Notice tone="good" title="Copy the new secret now: it is shown this once.">
            The old one signs beside it for 24 hours.
          </Notice>
          <Secret text={secret} name="signing secret" />
          <div className="acts">
            <Button kind="primary" onClick={onDone}>
              I have kept it
            </Button>
          </div>
        </>
      ) : (
        <>
          <p>
            A new secret is created. For 24 hours the old one signs as well, in a header of its own, so that no delivery
            is missed while your endpoint changes over.
          </p>
          {rotate.error && <Trouble error={rotate.error} />}
          <div className="acts">
            <Button onClick={onDone}>Cancel</Button>
            <Button kind="primary" busy={rotate.isPending} onClick={() => rotate.mutate()}>
              Rotate secret
            </Button>
          </div>
        </>
      )}
    </Dialog>
  );
}
