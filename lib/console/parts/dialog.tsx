import { AlertDialog } from "@base-ui/react/alert-dialog";
import { Dialog as Base } from "@base-ui/react/dialog";
import { X } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import { Trouble } from "./trouble.tsx";

interface DialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly children: ReactNode;
  readonly broad?: boolean;
  /** It is left by its own button alone, as what is shown once. */
  readonly holds?: boolean;
}

/** Something that is done before the page continues; Escape, a click outside and the cross leave it. */
export function Dialog({ open, onClose, title, children, broad, holds }: DialogProps) {
  return (
    <Base.Root open={open} onOpenChange={(opens) => !opens && !holds && onClose()}>
      <Base.Portal>
        <Base.Backdrop className="veil" />
        <Base.Popup className={broad ? "dialog broad" : "dialog"}>
          <div className="head">
            <Base.Title render={<h2>{title}</h2>} />
            {!holds && (
              <Base.Close
                render={<Button kind="plain" compact icon={<X size={18} aria-hidden />} aria-label="Close" />}
              />
            )}
          </div>
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

interface ConfirmProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  /** What will happen, and what will not. */
  readonly children: ReactNode;
  /** The act in its own words, never "OK". */
  readonly act: string;
  readonly onAct: () => void;
  readonly busy?: boolean;
  readonly error?: Error | null;
  readonly kind?: "primary" | "danger";
}

/** Asks for confirmation before something that cannot easily be undone. */
export function Confirm({
  open,
  onClose,
  title,
  children,
  act,
  onAct,
  busy = false,
  error,
  kind = "danger",
}: ConfirmProps) {
  return (
    <AlertDialog.Root open={open} onOpenChange={(opens) => !opens && onClose()}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="veil" />
        <AlertDialog.Popup className="dialog">
          <AlertDialog.Title render={<h2>{title}</h2>} />
          <AlertDialog.Description render={<div className="stack tight">{children}</div>} />
          {error && <Trouble error={error} />}
          <div className="acts">
            <AlertDialog.Close render={<Button>Cancel</Button>} />
            <Button kind={kind} onClick={onAct} busy={busy}>
              {act}
            </Button>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
