import type { ReactNode } from "react";
import { Page } from "../../parts/page.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { usePlace } from "../../route.ts";

/** What the three pages of configuration have in common. */
export function ConfigurationFrame({ acts, children }: { readonly acts?: ReactNode; readonly children: ReactNode }) {
  const { path } = usePlace();
  return (
    <Page
      title="Configuration"
      says="All mappings as one document, for version control, or for another workspace."
      acts={acts}
    >
      <Tabs
        label="Configuration"
        at={path}
        tabs={[
          { path: "/configuration", name: "Export" },
          { path: "/configuration/import", name: "Import" },
          { path: "/configuration/drift", name: "Baseline and drift" },
        ]}
      />
      {children}
    </Page>
  );
}
