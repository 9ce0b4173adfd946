import type { Meta } from "bridge/api";
import type { ReactNode } from "react";
import { List, type ListProps } from "./list.tsx";
import { Bones, Card } from "./page.tsx";
import { Pager } from "./pager.tsx";
import { Trouble } from "./trouble.tsx";

interface ListCardProps<Row> extends Omit<ListProps, "children"> {
  readonly title?: string;
  /** The answer that holds the rows, as `useAnswer` gives it. */
  readonly answer: {
    readonly data: { readonly data: readonly Row[]; readonly meta: Meta | null } | undefined;
    readonly error: Error | null;
    readonly refetch: () => Promise<unknown>;
  };
  /** Turns to another page of the list; a list without it is shown whole. */
  readonly onGo?: (offset: number) => void;
  /** What is below it otherwise. */
  readonly foot?: ReactNode;
  /** How tall the list is about before it is there. */
  readonly lines?: number;
  /** What is shown in place of an empty list. */
  readonly empty: ReactNode;
  /** The order of the rows; without one, the answer's. */
  readonly order?: (one: Row, other: Row) => number;
  /** The line of a row, with its key. */
  readonly children: (row: Row, index: number) => ReactNode;
}

/** A list, or one page of it: before it is there, when it can't be had, when it is empty. */
export function ListCard<Row>(props: ListCardProps<Row>) {
  const { title, answer, onGo, foot, lines = 6, empty, order, children, ...list } = props;
  const { data: page, error, refetch } = answer;
  const rows = order ? page?.data.toSorted(order) : page?.data;
  return (
    <>
      {error && !page && <Trouble error={error} again={() => void refetch()} />}
      <Card title={title} padded={false} foot={onGo ? <Pager meta={page?.meta ?? null} onGo={onGo} /> : foot}>
        {!rows && !error && <Bones lines={lines} />}
        {rows?.length === 0 && empty}
        {rows && rows.length > 0 && <List {...list}>{rows.map(children)}</List>}
      </Card>
    </>
  );
}
