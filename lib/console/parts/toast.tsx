import { Toast } from "@base-ui/react/toast";
import { CircleAlert, CircleCheck, X } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import { remedyOf } from "./trouble.tsx";
import { sentence } from "./words.ts";

/** Room for short words about what was just done. */
export function Toasts({ children }: { readonly children: ReactNode }) {
  return (
    <Toast.Provider timeout={6000}>
      {children}
      <Toast.Portal>
        <Toast.Viewport className="toasts">
          <Shown />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

function Shown() {
  const { toasts } = Toast.useToastManager();
  return toasts.map((toast) => (
    <Toast.Root key={toast.id} toast={toast} className={`toast ${toast.type ?? ""}`}>
      {toast.type === "bad" ? <CircleAlert size={18} aria-hidden /> : <CircleCheck size={18} aria-hidden />}
      <div>
        <Toast.Title render={<strong />} />
        <Toast.Description render={<div className="muted" />} />
      </div>
      <Toast.Close render={<Button kind="plain" compact icon={<X size={16} aria-hidden />} aria-label="Dismiss" />} />
    </Toast.Root>
  ));
}

/** Says what was done, or why it was not. */
export function useSay() {
  const { add } = Toast.useToastManager();
  return {
    done: (title: string, description?: string) => add({ title, description, type: "good" }),
    failed: (error: Error) =>
      add({ title: sentence(error.message), description: remedyOf(error), type: "bad", timeout: 12_000 }),
    /** What was done before a refusal, and the refusal. */
    stopped: (title: string, error: Error) =>
      add({
        title,
        description: `${sentence(error.message).replace(/\.$/, "")}. ${remedyOf(error)}`,
        type: "bad",
        timeout: 12_000,
      }),
  };
}
