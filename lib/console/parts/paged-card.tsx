import type { Meta } from "bridge/api";
import type { ReactNode } from "react";
import { Bones, Card } from "./page.tsx";
import { Pager } from "./pager.tsx";
import { Trouble } from "./trouble.tsx";

interface PagedCardProps {
  readonly title?: string;
  /** The answer that holds the page, as `useAnswer` gives it. */
  readonly answer: {
    readonly data: { readonly data: readonly unknown[]; readonly meta: Meta | null } | undefined;
    readonly error: Error | null;
    readonly refetch: () => Promise<unknown>;
  };
  readonly onGo: (offset: number) => void;
  /** What is shown in place of an empty list. */
  readonly empty: ReactNode;
  readonly children: ReactNode;
}

/** A list of which one page is shown: before it is there, when it can't be had, when it is empty. */
export function PagedCard({ title, answer: { data: page, error, refetch }, onGo, empty, children }: PagedCardProps) {
  return (
    <>
      {error && !page && <Trouble error={error} again={() => void refetch()} />}
      <Card {...(title && { title })} padded={false} foot={<Pager meta={page?.meta ?? null} onGo={onGo} />}>
        {!page && !error && <Bones lines={6} />}
        {page?.data.length === 0 && empty}
        {page && page.data.length > 0 && children}
      </Card>
    </>
  );
}
