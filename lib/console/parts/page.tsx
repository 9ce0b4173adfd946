import { type ReactNode, useEffect, useRef } from "react";

interface PageProps {
  readonly title: string;
  /** Beside the title: a state. */
  readonly beside?: ReactNode;
  readonly says?: ReactNode;
  readonly acts?: ReactNode;
  readonly children: ReactNode;
}

/** A page: its title, which takes the focus when the reader arrives, what can be done, and what is there. */
export function Page({ title, beside, says, acts, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    heading.current?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, []);
  useEffect(() => {
    document.title = `${title} · Bridge`;
  }, [title]);
  return (
    <div className="page">
      <header className="head">
        <div className="head-words">
          <div className="head-line">
            <h1 ref={heading} tabIndex={-1} className="breaks">
              {title}
            </h1>
            {beside}
          </div>
          {says && <p className="muted">{says}</p>}
        </div>
        {acts && <div className="acts">{acts}</div>}
      </header>
      {children}
    </div>
  );
}

interface CardProps {
  readonly title?: ReactNode;
  readonly acts?: ReactNode;
  readonly children: ReactNode;
  readonly foot?: ReactNode;
  /** False: what is inside reaches the edges, as a table does. */
  readonly padded?: boolean;
}

/** One thing of a page, with its name. */
export function Card({ title, acts, children, foot, padded = true }: CardProps) {
  return (
    <section className="card">
      {(title || acts) && (
        <div className="card-head">
          <h2>{title}</h2>
          {acts && <div className="acts">{acts}</div>}
        </div>
      )}
      {padded ? <div className="card-body">{children}</div> : children}
      {foot && <div className="card-foot">{foot}</div>}
    </section>
  );
}

interface EmptyProps {
  readonly icon?: ReactNode;
  readonly title: string;
  readonly children?: ReactNode;
  readonly acts?: ReactNode;
}

/** A list without rows: says why, and what to do next. */
export function Empty({ icon, title, children, acts }: EmptyProps) {
  return (
    <div className="empty">
      {icon}
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {acts && <div className="acts">{acts}</div>}
    </div>
  );
}

/** The place of an answer that is still loading; as tall as the answer, so that nothing jumps. */
export function Bones({ lines = 4 }: { readonly lines?: number }) {
  return (
    <div className="bones" role="status">
      <span className="unseen">Loading</span>
      {LINES.slice(0, lines).map((line) => (
        <div key={line} className={`bone w${(line % 3) + 1}`} />
      ))}
      <p className="late small muted">The service takes long to answer. It is still being asked.</p>
    </div>
  );
}

const LINES = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
