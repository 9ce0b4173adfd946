import { Dialog } from "@base-ui/react/dialog";
import {
  Activity,
  ArrowLeftRight,
  Cable,
  FileJson,
  Gauge,
  KeyRound,
  LogOut,
  Menu,
  ScrollText,
  Webhook,
  X,
} from "lucide-react";
import { type ReactNode, useState } from "react";
import { type Outdated, useOutdated } from "./api/freshness.ts";
import { questions } from "./api/questions.ts";
import { useScopes } from "./api/scopes.ts";
import { useCredentials, useSession } from "./api/session.tsx";
import { queries, useAnswer } from "./api/use.ts";
import mark from "./mark.svg";
import { Button } from "./parts/button.tsx";
import { ThemeSwitch } from "./parts/theme.tsx";
import { Time } from "./parts/time.tsx";
import { Notice, remedyOf } from "./parts/trouble.tsx";
import { sentence } from "./parts/words.ts";
import { hrefOf, usePlace } from "./route.ts";

const PLACES = [
  {
    name: "Watch",
    places: [
      { path: "/", name: "Overview", icon: Gauge },
      { path: "/mappings", name: "Mappings", icon: ArrowLeftRight },
      { path: "/activity", name: "Activity", icon: Activity },
    ],
  },
  {
    name: "Set up",
    places: [
      { path: "/connections", name: "Connections", icon: Cable },
      { path: "/configuration", name: "Configuration", icon: FileJson },
      { path: "/webhooks", name: "Webhooks", icon: Webhook },
      { path: "/tokens", name: "Tokens", icon: KeyRound },
      { path: "/audit-log", name: "Audit log", icon: ScrollText },
    ],
  },
] as const;

/** What stands around every page: the places, who is here, and the way out. */
export function Shell({ children }: { readonly children: ReactNode }) {
  const outdated = useOutdated();
  return (
    <div className="shell" data-outdated={outdated ? "" : undefined}>
      <a className="skip" href={`${location.hash}`} onClick={toMain}>
        Skip to the page
      </a>
      <Bar />
      <Side />
      <main className="main" id="main">
        <div role="status">{outdated && <OldData {...outdated} />}</div>
        {children}
      </main>
    </div>
  );
}

function toMain(event: { preventDefault(): void }): void {
  event.preventDefault();
  document.querySelector<HTMLElement>("#main h1")?.focus();
}

/** Says that the figures below are not of now, before anybody acts on them. */
function OldData({ since, error, inPart }: Outdated) {
  const at = new Date(since).toISOString();
  return (
    <Notice
      tone="warn"
      title={
        <>
          {inPart ? "Some of what this page shows" : "What this page shows"} is from <Time at={at} />
        </>
      }
      acts={
        <Button compact onClick={() => void queries.refetchQueries({ type: "active" })}>
          Try again
        </Button>
      }
    >
      {sentence(error.message)} {remedyOf(error)}
    </Notice>
  );
}

/** On a narrow page the places stand in a drawer. */
function Bar() {
  const [open, setOpen] = useState(false);
  return (
    <div className="bar">
      <a className="brand" href={hrefOf("/")}>
        <img src={mark} alt="" />
        Bridge
      </a>
      <Dialog.Root open={open} onOpenChange={setOpen}>
        <Dialog.Trigger render={<Button kind="plain" icon={<Menu size={20} aria-hidden />} aria-label="Places" />} />
        <Dialog.Portal>
          <Dialog.Backdrop className="veil" />
          <Dialog.Popup className="drawer" aria-label="Places">
            <Side onGo={() => setOpen(false)}>
              <Dialog.Close render={<Button kind="plain" icon={<X size={18} aria-hidden />} aria-label="Close" />} />
            </Side>
          </Dialog.Popup>
        </Dialog.Portal>
      </Dialog.Root>
    </div>
  );
}

function Side({ children, onGo }: { readonly children?: ReactNode; readonly onGo?: () => void }) {
  const { path } = usePlace();
  return (
    <div className="side">
      <div className="head">
        <a className="brand" href={hrefOf("/")}>
          <img src={mark} alt="" />
          Bridge
        </a>
        {children}
      </div>
      <nav className="nav" aria-label="Places">
        {PLACES.map(({ name, places }) => (
          <div key={name}>
            <div className="nav-group">{name}</div>
            <ul>
              {places.map((place) => (
                <li key={place.path}>
                  <a
                    href={hrefOf(place.path)}
                    onClick={onGo}
                    aria-current={isAt(path, place.path) ? "page" : undefined}
                  >
                    <place.icon size={17} strokeWidth={1.75} aria-hidden />
                    {place.name}
                  </a>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
      <Who />
    </div>
  );
}

const isAt = (path: string, place: string): boolean =>
  place === "/" ? path === "/" : path === place || path.startsWith(`${place}/`);

function Who() {
  const { workspaceId } = useCredentials();
  const { signOut } = useSession();
  const { token } = useScopes();
  const { data: workspace } = useAnswer(questions.workspace);
  return (
    <div className="who">
      <div>
        <div className="breaks who-name" title={workspaceId}>
          {workspace?.data.name ?? workspaceId}
        </div>
        <div className="breaks">{token?.owner ?? "\u00a0"}</div>
        <div>{token ? `may ${token.scopes.join(", ")}` : "\u00a0"}</div>
      </div>
      <div className="who-acts">
        <ThemeSwitch />
        <Button kind="plain" compact icon={<LogOut size={16} aria-hidden />} onClick={() => signOut()}>
          Sign out
        </Button>
      </div>
    </div>
  );
}
