import type { CompleteSalesforceBody, CompleteSalesforceData } from "bridge/api";
import { useEffect } from "react";
import { useAct } from "../../api/use.ts";
import { Card, Page } from "../../parts/page.tsx";
import { Notice, Trouble } from "../../parts/trouble.tsx";
import { hrefOf } from "../../route.ts";

/** Where Salesforce sends the browser back to: the console's own page. */
export const redirectUri = (): string => new URL(document.baseURI).href.replace(/[?#].*$/s, "");

/** Ends the sign-in that was begun under Connections. */
export function SalesforceReturn() {
  const query = new URLSearchParams(location.search);
  const code = query.get("code");
  const state = query.get("state") ?? "";
  const complete = useAct<CompleteSalesforceData, CompleteSalesforceBody>((body) => ({
    method: "POST",
    path: "/connections/salesforce/complete",
    body,
  }));
  const { mutate } = complete;
  useEffect(() => {
    if (code) mutate({ state, code });
  }, [code, state, mutate]);
  const on = (
    <a className="button primary" href={`${redirectUri()}${hrefOf("/connections")}`}>
      To the connections
    </a>
  );
  return (
    <Page title="Salesforce sign-in">
      {!code && (
        <Notice tone="bad" title="Salesforce refused the sign-in." acts={on}>
          {query.get("error_description") ?? query.get("error")}
        </Notice>
      )}
      {complete.isPending && <Card title="Connecting the org…">This takes a second.</Card>}
      {complete.error && <Trouble error={complete.error} title="The org was not connected. Begin the sign-in again." />}
      {complete.error && <div className="acts">{on}</div>}
      {complete.data && (
        <Notice tone="good" title="The org is connected." acts={on}>
          {complete.data.data.username}, {complete.data.data.instance_url}
        </Notice>
      )}
    </Page>
  );
}
