import { Fragment } from "react";
import { Dialog } from "../parts/dialog.tsx";
import { FIND_KEY } from "./key.ts";

const KEYS = [
  [FIND_KEY, "Find a row, a mapping, a page or an action"],
  ["?", "Show these keys"],
  ["/", "Search the rows of a mapping, on its page of rows"],
  ["↑ ↓", "Go to the row above or below"],
  ["Enter", "Open or do what is chosen"],
  ["Esc", "Close"],
] as const;

/** The keys of the console. */
export function Keys({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog open onClose={onClose} title="Keys">
      <dl className="facts">
        {KEYS.map(([key, says]) => (
          <Fragment key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{says}</dd>
          </Fragment>
        ))}
      </dl>
    </Dialog>
  );
}
