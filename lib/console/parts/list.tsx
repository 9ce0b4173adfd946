import type { ReactNode } from "react";

/** A column's name, with the classes of its cells where they have some: `wide` cells leave when the page is narrow, `wider` ones when the list is. */
type Heading = string | readonly [name: string, classes: string];

export interface ListProps {
  /** What the table holds, for who cannot see it. */
  readonly caption: string;
  readonly head: readonly Heading[];
  /** What chooses all rows, above a first column of choices. */
  readonly choose?: ReactNode;
  /** Whether a last column has acts; its name is unseen. */
  readonly acts?: boolean;
  readonly children: ReactNode;
}

/** What is chosen of a list, with one more or one less. */
export const turned = (chosen: ReadonlySet<string>, key: string): ReadonlySet<string> =>
  new Set(chosen.has(key) ? [...chosen].filter((other) => other !== key) : [...chosen, key]);

/** A dense table. */
export function List({ caption, head, choose, acts, children }: ListProps) {
  return (
    <div className="list">
      <table>
        <caption className="unseen">{caption}</caption>
        <thead>
          <tr>
            {choose && <th>{choose}</th>}
            {head.map((heading) => {
              const [name, classes] = [heading].flat();
              return (
                <th key={name} className={classes}>
                  {name}
                </th>
              );
            })}
            {acts && (
              <th>
                <span className="unseen">Acts</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
