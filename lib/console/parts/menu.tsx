import { Menu as Base } from "@base-ui/react/menu";
import { Ellipsis } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "./button.tsx";

/** One thing that can be done. */
export interface MenuAct {
  readonly name: string;
  readonly icon: ReactNode;
  readonly onAct: () => void;
  /** Why not, if it may not be done now. */
  readonly refused?: string | null;
  readonly danger?: boolean;
}

/** What can be done and is not done often, behind three points. It opens inside the main landmark, where its button is. */
export function Menu({ label, acts }: { readonly label: string; readonly acts: readonly MenuAct[] }) {
  return (
    <Base.Root>
      <Base.Trigger render={<Button kind="plain" icon={<Ellipsis size={18} aria-hidden />} aria-label={label} />} />
      <Base.Portal container={document.getElementById("main")}>
        <Base.Positioner sideOffset={4} align="end">
          <Base.Popup className="popup">
            {acts.map(({ name, icon, onAct, refused, danger }) => (
              <Base.Item
                key={name}
                className={danger ? "choice danger" : "choice"}
                disabled={Boolean(refused)}
                title={refused ?? undefined}
                onClick={onAct}
              >
                {icon}
                {name}
              </Base.Item>
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
