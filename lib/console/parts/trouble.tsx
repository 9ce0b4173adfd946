import { CircleAlert, CircleCheck, Info, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { Refused } from "../api/ask.ts";
import { Button } from "./button.tsx";
import { sentence } from "./words.ts";

interface NoticeProps {
  readonly tone?: "info" | "good" | "warn" | "bad";
  readonly title?: ReactNode;
  readonly children?: ReactNode;
  readonly acts?: ReactNode;
}

const ICONS = { info: Info, good: CircleCheck, warn: TriangleAlert, bad: CircleAlert };

/** Something that the reader should know, with what can be done about it. */
export function Notice({ tone = "info", title, children, acts }: NoticeProps) {
  const Icon = ICONS[tone];
  return (
    <div className={`notice ${tone}`} role={tone === "bad" ? "alert" : undefined}>
      <Icon size={18} aria-hidden />
      <div className="notice-words">
        {title && <strong>{title}</strong>}
        {children && <div>{children}</div>}
      </div>
      {acts && <div className="acts">{acts}</div>}
    </div>
  );
}

/** A failure: what happened, what helps, and what to report to the operator. */
export function Trouble({
  error,
  again,
  title,
}: {
  readonly error: Error;
  readonly again?: () => void;
  readonly title?: string;
}) {
  return (
    <Notice
      tone="bad"
      title={title ?? sentence(error.message)}
      acts={
        again && (
          <Button compact onClick={again}>
            Try again
          </Button>
        )
      }
    >
      {title && <p>{sentence(error.message)}</p>}
      {error instanceof Refused && error.details.length > 0 && <Details details={error.details} />}
      <p>{remedyOf(error)}</p>
      {error instanceof Refused && error.status > 0 && (
        <p className="small">
          <a href={`docs/errors#${error.code}`} target="_blank" rel="noreferrer">
            What {error.code} means
          </a>
        </p>
      )}
      {error instanceof Refused && error.requestId && error.status >= 500 && (
        <p className="small muted">Request {error.requestId}</p>
      )}
    </Notice>
  );
}

function Details({ details }: { readonly details: Refused["details"] }) {
  return (
    <ul>
      {details.map(({ path, message }) => (
        <li key={`${path} ${message}`}>
          <code>{path}</code> {message}
        </li>
      ))}
    </ul>
  );
}

/** What helps, by the kind of failure. */
export function remedyOf(error: Error): string {
  if (!(error instanceof Refused)) return "This is a defect of the console. Reload the page; if it stays, report it.";
  return REMEDIES[error.code] ?? "";
}

const REMEDIES: Partial<Record<Refused["code"], string>> = {
  UNREACHABLE: "Check that Bridge runs and that this device is online; the page continues when it answers.",
  UNREADABLE: "Something between this page and Bridge answered in its place. Look at proxies and at the service's log.",
  UNAUTHORIZED: "Sign in again with a valid token.",
  FORBIDDEN: "Ask a user with the scope admin for a token that may do this.",
  RATE_LIMITED: "More than 300 requests a minute came from this address. Wait a minute.",
  INTERNAL_ERROR: "Try again; if it stays, give the operator the request's number.",
  CONFLICT: "Check the present state, then decide again.",
  PRECONDITION_FAILED: "It was changed meanwhile. Read it as it is now, then change it again.",
  MAPPING_NOT_FOUND: "It may have been deleted. The list shows what there is.",
  WEBHOOK_NOT_FOUND: "It may have been deleted. The list shows what there is.",
};
