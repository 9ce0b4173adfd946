import { LoaderCircle } from "lucide-react";
import type { ComponentProps, ReactNode } from "react";

interface ButtonProps extends ComponentProps<"button"> {
  readonly kind?: "primary" | "danger" | "plain" | undefined;
  readonly compact?: boolean;
  /** Its act is under way: it cannot be pressed again, and says so. */
  readonly busy?: boolean;
  /** Why it cannot be pressed; it stays reachable, so that the reason can be read. */
  readonly refused?: string | null | undefined;
  readonly icon?: ReactNode;
}

/** A button that keeps its width while it is busy, and says why when it may not be pressed. */
export function Button({
  kind,
  compact,
  busy,
  refused,
  icon,
  children,
  className,
  onClick,
  type,
  ...rest
}: ButtonProps) {
  const isOff = busy === true || Boolean(refused);
  const classes = ["button", kind, compact && "compact", children === undefined && "icon", className];
  return (
    <button
      {...rest}
      type={type ?? "button"}
      className={classes.filter(Boolean).join(" ")}
      aria-disabled={isOff || undefined}
      title={refused ?? rest.title}
      onClick={(event) => {
        if (isOff) return event.preventDefault();
        onClick?.(event);
      }}
    >
      {busy ? <LoaderCircle size={16} className="turns" aria-hidden /> : icon}
      {children}
    </button>
  );
}
