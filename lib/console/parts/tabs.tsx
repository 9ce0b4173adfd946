import type { ReactNode } from "react";
import { hrefOf } from "../route.ts";

interface Tab {
  readonly path: string;
  readonly name: ReactNode;
}

/** Parts of one page, each with an address of its own. */
export function Tabs({
  label,
  tabs,
  at,
}: {
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly at: string;
}) {
  return (
    <nav className="tabs" aria-label={label}>
      {tabs.map(({ path, name }) => (
        <a key={path} href={hrefOf(path)} aria-current={path === at ? "page" : undefined}>
          {name}
        </a>
      ))}
    </nav>
  );
}
