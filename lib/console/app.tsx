import { QueryClientProvider } from "@tanstack/react-query";
import { type ComponentType, lazy, Suspense, useEffect } from "react";
import { SessionProvider, useSession } from "./api/session.tsx";
import { queries } from "./api/use.ts";
import { Overview } from "./pages/overview.tsx";
import { SignIn } from "./pages/sign-in.tsx";
import { Bones, Empty, Page } from "./parts/page.tsx";
import { applyTheme } from "./parts/theme.tsx";
import { Toasts } from "./parts/toast.tsx";
import { hrefOf, isReturn, usePlace } from "./route.ts";
import { Shell } from "./shell.tsx";

/** The console. */
export function App() {
  useEffect(() => applyTheme(), []);
  return (
    <QueryClientProvider client={queries}>
      <SessionProvider>
        <Toasts>
          <Door />
        </Toasts>
      </SessionProvider>
    </QueryClientProvider>
  );
}

function Door() {
  const { credentials } = useSession();
  useEffect(() => {
    if (!credentials) queries.clear(); // nothing of one workspace is shown to the next
  }, [credentials]);
  return credentials ? (
    <Shell>
      <Suspense fallback={<Bones lines={6} />}>
        <Place />
      </Suspense>
    </Shell>
  ) : (
    <SignIn />
  );
}

/** The first page is part of the first load; the others come when they are gone to. */
const PAGES: readonly (readonly [pattern: RegExp, page: ComponentType<{ readonly id: string }>])[] = [
  [/^\/(?:sign-in)?$/, Overview],
  [/^\/mappings$/, lazy(async () => ({ default: (await import("./pages/mappings/mappings.tsx")).Mappings }))],
  [/^\/mappings\/new$/, lazy(async () => ({ default: (await import("./pages/mappings/new-mapping.tsx")).NewMapping }))],
  [
    /^\/mappings\/([^/]+)$/,
    lazy(async () => ({ default: (await import("./pages/mappings/mapping.tsx")).MappingPage })),
  ],
  [
    /^\/mappings\/([^/]+)\/edit$/,
    lazy(async () => ({ default: (await import("./pages/mappings/edit-mapping.tsx")).EditMapping })),
  ],
  [
    /^\/connections$/,
    lazy(async () => ({ default: (await import("./pages/connections/connections.tsx")).Connections })),
  ],
  [/^\/tokens$/, lazy(async () => ({ default: (await import("./pages/tokens.tsx")).Tokens }))],
  [/^\/audit-log$/, lazy(async () => ({ default: (await import("./pages/audit-log.tsx")).AuditLog }))],
];

const SalesforceReturn = lazy(async () => ({
  default: (await import("./pages/connections/return.tsx")).SalesforceReturn,
}));

function Place() {
  const { path } = usePlace();
  if (isReturn()) return <SalesforceReturn />;
  for (const [pattern, Shown] of PAGES) {
    const [found, id = ""] = pattern.exec(path) ?? [];
    if (found !== undefined) return <Shown key={path} id={decodeURIComponent(id)} />;
  }
  return (
    <Page title="Not here">
      <Empty
        title="There is no such page"
        acts={
          <a className="button" href={hrefOf("/")}>
            To the overview
          </a>
        }
      >
        The address may be cut short, or come from another version of the console.
      </Empty>
    </Page>
  );
}
