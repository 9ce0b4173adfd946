import type { Meta } from "bridge/api";
import { ChevronLeft, ChevronRight } from "lucide-react";
import { Button } from "./button.tsx";
import { count } from "./words.ts";

/** Where in a long list the page is, and the way further. */
export function Pager({ meta, onGo }: { readonly meta: Meta | null; readonly onGo: (offset: number) => void }) {
  if (!meta) return <span>&nbsp;</span>;
  const { total, limit, offset } = meta;
  const last = Math.min(offset + limit, total);
  return (
    <>
      <span className="figure">{total === 0 ? "none" : `${count(offset + 1)}–${count(last)} of ${count(total)}`}</span>
      <span className="acts">
        <Button
          kind="plain"
          compact
          icon={<ChevronLeft size={16} aria-hidden />}
          aria-label="Newer"
          disabled={offset === 0}
          onClick={() => onGo(Math.max(0, offset - limit))}
        />
        <Button
          kind="plain"
          compact
          icon={<ChevronRight size={16} aria-hidden />}
          aria-label="Older"
          disabled={last >= total}
          onClick={() => onGo(offset + limit)}
        />
      </span>
    </>
  );
}
