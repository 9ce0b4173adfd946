import { Dialog } from "@base-ui/react/dialog";
import {
  Activity,
  ArrowLeftRight,
  BookOpen,
  Cable,
  ChartColumn,
  FileJson,
  Gauge,
  KeyRound,
  LogOut,
  Menu,
  ScrollText,
  Search,
  Webhook,
  X,
} from "lucide-react";
import { type ReactNode, Suspense, useEffect, useState } from "react";
import { type Outdated, useOutdated } from "./api/freshness.ts";
import { questions } from "./api/questions.ts";
import { useScopes } from "./api/scopes.ts";
import { useCredentials, useSession } from "./api/session.tsx";
import { queries, useAnswer } from "./api/use.ts";
import { FIND_KEY } from "./find/key.ts";
import mark from "./mark.svg";
import { Button } from "./parts/button.tsx";
import { later } from "./parts/later.ts";
import { ThemeSwitch } from "./parts/theme.tsx";
import { Time } from "./parts/time.tsx";
import { Notice, remedyOf } from "./parts/trouble.tsx";
import { sentence } from "./parts/words.ts";
import { OPERATORS } from "./places.ts";
import { hrefOf, usePlace } from "./route.ts";

const PLACES = [
  {
    name: "Watch",
    places: [
      { path: "/", name: "Overview", icon: Gauge },
      { path: "/mappings", name: "Mappings", icon: ArrowLeftRight },
      { path: "/activity", name: "Activity", icon: Activity },
      { path: "/budget", name: "API calls", icon: ChartColumn },
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

/** The places of the operators' workspace: the first shows the fleet. */
const OF_OPERATORS: readonly string[] = ["/", "/tokens", "/audit-log"];

const Find = later(async () => (await import("./find/find.tsx")).Find);

const Keys = later(async () => (await import("./find/keys.tsx")).Keys);

const PauseNotice = later(async () => (await import("./pages/fleet/pause.tsx")).PauseNotice);

/** The frame of every page: the places, the user, and the way out. */
export function Shell({ children }: { readonly children: ReactNode }) {
  const outdated = useOutdated();
  const [opened, setOpened] = useState<"find" | "keys" | null>(null);
  const isOperators = useCredentials().workspaceId === OPERATORS;
  useEffect(() => {
    if (isOperators) return; // they see no rows, and have three places
    const onKey = (event: KeyboardEvent) => {
      const opens = openedBy(event);
      if (!opens) return;
      event.preventDefault();
      setOpened(opens);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [isOperators]);
  const find = () => setOpened("find");
  const close = () => setOpened(null);
  return (
    <div className="shell" data-outdated={outdated ? "" : undefined}>
      <nav className="skip-place" aria-label="Skip">
        <a className="skip" href={`${location.hash}`} onClick={toMain}>
          Skip to the page
        </a>
      </nav>
      <Bar onFind={find} />
      <Side onFind={find} />
      <Suspense>
        {opened === "find" && <Find places={PLACES.flatMap(({ places }) => [...places])} onClose={close} />}
        {opened === "keys" && <Keys onClose={close} />}
      </Suspense>
      <main className="main" id="main">
        <div role="status">{outdated && <OldData {...outdated} />}</div>
        <Paused />
        {children}
      </main>
    </div>
  );
}

/** What a key opens: Ctrl-K anywhere, `?` on the page itself. */
function openedBy({ key, ctrlKey, metaKey, target }: KeyboardEvent): "find" | "keys" | null {
  if (key.toLowerCase() === "k" && (ctrlKey || metaKey)) return "find";
  const isElsewhere = (target as Element).closest?.("input, select, textarea, [role=dialog], [role=alertdialog]");
  return key === "?" && !isElsewhere ? "keys" : null;
}

/** Polled: another user may have stopped everything. */
function Paused() {
  const { data } = useAnswer(questions.workspace, { everySeconds: 30 });
  const pause = data?.data.pause;
  return pause ? (
    <Suspense>
      <PauseNotice pause={pause} />
    </Suspense>
  ) : null;
}

function toMain(event: { preventDefault(): void }): void {
  event.preventDefault();
  document.querySelector<HTMLElement>("#main h1")?.focus();
}

/** Says that the figures below are not current, before a user acts on them. */
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

/** On a narrow page the places are in a drawer. */
function Bar({ onFind }: { readonly onFind: () => void }) {
  const [open, setOpen] = useState(false);
  return (
    <section className="bar" aria-label="Top">
      <a className="brand" href={hrefOf("/")}>
        <img src={mark} alt="" />
        Bridge
      </a>
      <FindButton onFind={onFind} />
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
    </section>
  );
}

interface SideProps {
  readonly children?: ReactNode;
  readonly onGo?: () => void;
  /** Opens what finds everything; in the drawer it is above, in the bar. */
  readonly onFind?: () => void;
}

/** Opens what finds everything, with its key. */
function FindButton({ onFind }: { readonly onFind: () => void }) {
  if (useCredentials().workspaceId === OPERATORS) return null;
  return (
    <Button className="find-button" icon={<Search size={16} aria-hidden />} onClick={onFind}>
      Find … <kbd>{FIND_KEY}</kbd>
    </Button>
  );
}

function Side({ children, onGo, onFind }: SideProps) {
  const { path } = usePlace();
  const isOperators = useCredentials().workspaceId === OPERATORS;
  return (
    <section className="side" aria-label="Bridge">
      <div className="head">
        <a className="brand" href={hrefOf("/")}>
          <img src={mark} alt="" />
          Bridge
        </a>
        {children}
      </div>
      {onFind && <FindButton onFind={onFind} />}
      <nav className="nav" aria-label="Places">
        {PLACES.map(({ name, places }) => (
          <div key={name}>
            <div className="nav-group">{name}</div>
            <ul>
              {places
                .filter(({ path: to }) => !isOperators || OF_OPERATORS.includes(to))
                .map((place) => (
                  <li key={place.path}>
                    <a
                      href={hrefOf(place.path)}
                      onClick={onGo}
                      aria-current={isAt(path, place.path) ? "page" : undefined}
                    >
                      <place.icon size={17} strokeWidth={1.75} aria-hidden />
                      {isOperators && place.path === "/" ? "Fleet" : place.name}
                    </a>
                  </li>
                ))}
            </ul>
          </div>
        ))}
      </nav>
      <div className="nav">
        <a href="docs" target="_blank" rel="noreferrer">
          <BookOpen size={17} strokeWidth={1.75} aria-hidden />
          Documentation
        </a>
      </div>
      <Who />
    </section>
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
