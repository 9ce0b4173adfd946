import { QueryClientProvider } from "@tanstack/react-query";
import { Suspense, useEffect } from "react";
import { SessionProvider, useSession } from "./api/session.tsx";
import { queries } from "./api/use.ts";
import { SignIn } from "./pages/sign-in.tsx";
import { Bones, Empty, Page } from "./parts/page.tsx";
import { Toasts } from "./parts/toast.tsx";
import { pageOf, SalesforceReturn } from "./places.ts";
import { hrefOf, isReturn, usePlace } from "./route.ts";
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
  useEffect(() => {
    if (!credentials) queries.clear(); // nothing of one workspace is shown to the next
  }, [credentials]);
  const { path, query } = usePlace();
  const isLinkIn = path === "/sign-in" && query.has("token"); // also when somebody is in: it may be another workspace's
  return credentials && !isLinkIn ? (
    <Shell>
      <Suspense fallback={<Bones lines={6} />}>
        <Place />
      </Suspense>
    </Shell>
  ) : (
    <SignIn key={query.toString()} />
  );
}

function Place() {
  const { path } = usePlace();
  if (isReturn()) return <SalesforceReturn id="" />;
  const found = pageOf(path);
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
