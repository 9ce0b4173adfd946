import type { ReactNode } from "react";

interface ListProps {
  /** What the table holds, for who cannot see it. */
  readonly caption: string;
  readonly head: ReactNode;
  readonly children: ReactNode;
}

/** A dense table; cells of class `wide` leave when the page is narrow, those of class `wider` when the list is. */
export function List({ caption, head, children }: ListProps) {
  return (
    <div className="list">
      <table>
        <caption className="unseen">{caption}</caption>
        <thead>
          <tr>{head}</tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
