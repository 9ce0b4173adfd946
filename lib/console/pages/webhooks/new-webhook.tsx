import type { CreateWebhookBody, CreateWebhookData } from "bridge/api";
import { type FormEvent, useState } from "react";
import { useAct } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { Secret } from "../../parts/copy.tsx";
import { Field } from "../../parts/field.tsx";
import { Card, Page } from "../../parts/page.tsx";
import { Needs } from "../../parts/too-small.tsx";
import { Notice, Trouble } from "../../parts/trouble.tsx";
import { hrefOf } from "../../route.ts";
import { detailOf } from "../mappings/new-mapping.tsx";
import { EventChoice } from "./event-choice.tsx";
import type { EventType } from "./events.ts";

/** Registers a URL for events. */
export function NewWebhook() {
  return (
    <Page
      title="New webhook"
      says="Every delivery is signed; what fails is tried again after 30 seconds, 5 minutes, 30 minutes and 2 hours."
    >
      <Needs scope="admin" what="Webhooks">
        <Form />
      </Needs>
    </Page>
  );
}

function Form() {
  const [url, setUrl] = useState("");
  const [description, setDescription] = useState("");
  const [events, setEvents] = useState<readonly EventType[]>(["sync.broken", "sync.recovered", "sync.failure_spike"]);
  const create = useAct<CreateWebhookData, CreateWebhookBody>((body) => ({ method: "POST", path: "/webhooks", body }));
  if (create.data) return <Made webhook={create.data.data} />;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate({ url: url.trim(), description, events });
  };
  return (
    <form className="stack" onSubmit={submit}>
      <Card title="Where">
        <div className="form">
          <Field
            label="URL"
            type="url"
            value={url}
            onChange={({ target }) => setUrl(target.value)}
            required
            placeholder="https://example.com/hooks/bridge"
            hint="It must answer 2xx within five seconds; do the work afterwards."
            wrong={detailOf(create.error, "url")}
          />
          <Field
            label="Description"
            value={description}
            onChange={({ target }) => setDescription(target.value)}
            maxLength={255}
            placeholder="Pages the person on call"
          />
        </div>
      </Card>
      <Card title="Events">
        <EventChoice chosen={events} onChange={setEvents} />
      </Card>
      {create.error && <Trouble error={create.error} title="The webhook was not made." />}
      <div className="acts">
        <Button
          kind="primary"
          type="submit"
          busy={create.isPending}
          refused={events.length === 0 ? "Choose at least one event." : null}
        >
          Create webhook
        </Button>
        <a className="button plain" href={hrefOf("/webhooks")}>
          Cancel
        </a>
      </div>
    </form>
  );
}

function Made({ webhook }: { readonly webhook: CreateWebhookData }) {
  return (
    <Card title="The webhook is created">
      <div className="stack">
        <Notice tone="good" title="Copy the signing secret now: it is shown this once.">
          Your endpoint checks with it that a delivery comes from here: <code>X-Bridge-Signature</code> is{" "}
          <code>sha256=</code> and the HMAC-SHA256 of the raw body under this secret, in lowercase hexadecimal.
        </Notice>
        <Secret text={webhook.secret} name="signing secret" />
        <div className="acts">
          <a className="button primary" href={hrefOf(`/webhooks/${webhook.id}`)}>
            I have kept it
          </a>
        </div>
      </div>
    </Card>
  );
}
