import { Check, Copy as CopyIcon } from "lucide-react";
import { useState } from "react";
import { Button } from "./button.tsx";

/** A button that copies a text and says that it did. */
export function Copy({ text, name }: { readonly text: string; readonly name: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  return (
    <Button
      compact
      icon={copied ? <Check size={15} aria-hidden /> : <CopyIcon size={15} aria-hidden />}
      onClick={() => void copy()}
      aria-label={copied ? `${name} copied` : `Copy ${name}`}
    >
      {copied ? "Copied" : "Copy"}
    </Button>
  );
}

/** A secret that is shown once, with its copy button. */
export function Secret({ text, name }: { readonly text: string; readonly name: string }) {
  return (
    <div className="secret">
      <code>{text}</code>
      <Copy text={text} name={name} />
    </div>
  );
}
