import { QueryClientProvider } from "@tanstack/react-query";
import { Suspense, useEffect, useLayoutEffect, useState } from "react";
import { SessionProvider, useCredentials, useSession } from "./api/session.tsx";
import { queries } from "./api/use.ts";
import { type Linked, SignIn } from "./pages/sign-in.tsx";
import { Boundary } from "./parts/boundary.tsx";
import { Bones, Empty, Page } from "./parts/page.tsx";
import { Toasts } from "./parts/toast.tsx";
import { pageOf, SalesforceReturn } from "./places.ts";
import { go, hrefOf, isReturn, usePlace } from "./route.ts";
import { Shell } from "./shell.tsx";

/** The console. */
export function App() {
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
  const [linked, setLinked] = useState<Linked | null>(null);
  useEffect(() => {
    if (!credentials) queries.clear(); // nothing of one workspace is shown to the next
  }, [credentials]);
  const { path, query } = usePlace();
  const link = path === "/sign-in" ? credentialsOf(query) : null; // also in a session: it may be another workspace's
  useLayoutEffect(() => {
    if (!link) return;
    setLinked(link);
    go(hrefOf("/"), "replace"); // the token leaves the address before anything is asked
  }, [link]);
  if (link) return null;
  if (credentials && !linked)
    return (
      <Shell>
        <Boundary key={path}>
          <Suspense fallback={<Bones lines={6} />}>
            <Place />
          </Suspense>
        </Boundary>
      </Shell>
    );
  return <SignIn key={linked?.token} linked={linked} onDone={() => setLinked(null)} />;
}

function credentialsOf(query: URLSearchParams): Linked | null {
  const [workspaceId, invitation] = [query.get("workspace"), query.get("invitation")];
  const token = invitation ?? query.get("token");
  return workspaceId && token ? { workspaceId, token, isInvitation: invitation !== null } : null;
}

function Place() {
  const { path } = usePlace();
  const { workspaceId } = useCredentials();
  if (isReturn()) return <SalesforceReturn id="" />;
  const found = pageOf(path, workspaceId);
  if (found) return <found.page key={path} id={found.id} />;
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
