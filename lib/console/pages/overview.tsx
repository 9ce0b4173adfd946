import { Card, Page } from "../parts/page.tsx";
import { Health } from "./overview/health.tsx";

/** Whether everything is in step, at one glance. */
export function Overview() {
  return (
    <Page title="Overview">
      <Health />
      <Card title="Mappings"> </Card>
    </Page>
  );
}
