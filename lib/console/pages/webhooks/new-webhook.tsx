import type { CreateWebhookBody, CreateWebhookData, TestWebhookData } from "bridge/api";
import { useState } from "react";
import { useAct } from "../../api/use.ts";
import { ActButton } from "../../parts/acts/act-button.tsx";
import { ActForm, useFields } from "../../parts/acts/act-form.tsx";
import { Secret } from "../../parts/copy.tsx";
import { Field } from "../../parts/field.tsx";
import { Card, Page } from "../../parts/page.tsx";
import { Needs } from "../../parts/too-small.tsx";
import { Notice } from "../../parts/trouble.tsx";
import { go, hrefOf } from "../../route.ts";
import { EventChoice } from "./event-choice.tsx";
import type { EventType } from "./events.ts";

/** Registers a URL for events. */
export function NewWebhook() {
  return (
    <Page
      title="New webhook"
      says="Every delivery is signed. Failed ones are retried after 30 seconds, 5 minutes, 30 minutes and 2 hours."
    >
      <Needs scope="admin" what="Webhooks">
        <Form />
      </Needs>
    </Page>
  );
}

function Form() {
  const create = useAct<CreateWebhookData, CreateWebhookBody>((body) => ({ method: "POST", path: "/webhooks", body }));
  const { texts, field } = useFields({ url: "", description: "" }, create.error);
  const [events, setEvents] = useState<readonly EventType[]>(["sync.broken", "sync.recovered", "sync.failure_spike"]);
  if (create.data) return <Made webhook={create.data.data} />;
  return (
    <ActForm
      ofCards
      act={create}
      onSubmit={() => create.mutate({ ...texts, url: texts.url.trim(), events })}
      button="Create webhook"
      failed="The webhook was not created."
      refused={events.length === 0 ? "Choose at least one event." : null}
      behind={
        <a className="button plain" href={hrefOf("/webhooks")}>
          Cancel
        </a>
      }
    >
      <Card title="Where">
        <div className="form">
          <Field
            label="URL"
            type="url"
            {...field("url")}
            required
            placeholder="https://example.com/hooks/bridge"
            hint="It must answer 2xx within five seconds; do the work afterwards."
          />
          <Field label="Description" {...field("description")} maxLength={255} placeholder="Pages the person on call" />
        </div>
      </Card>
      <Card title="Events">
        <EventChoice chosen={events} onChange={setEvents} />
      </Card>
    </ActForm>
  );
}

function Made({ webhook }: { readonly webhook: CreateWebhookData }) {
  const test = useAct<TestWebhookData>(() => ({ method: "POST", path: `/webhooks/${webhook.id}/test` }));
  const href = hrefOf(`/webhooks/${webhook.id}`);
  return (
    <Card title="The webhook is created">
      <div className="stack">
        <Notice tone="good" title="Copy the signing secret now: it is shown this once.">
          Your endpoint verifies deliveries with it: <code>X-Bridge-Signature</code> is <code>sha256=</code> and the
          HMAC-SHA256 of the raw body under this secret, in lowercase hexadecimal.
        </Notice>
        <Secret text={webhook.secret} name="signing secret" />
        <div className="acts">
          <ActButton
            act={test}
            scope="admin"
            done={() => {
              go(href);
              return ["A test is on its way", "It appears below in a moment, with the receiver's answer."];
            }}
            kind="primary"
          >
            I have kept it: send a test
          </ActButton>
          <a className="button" href={href}>
            I have kept it
          </a>
        </div>
      </div>
    </Card>
  );
}
