import type { ComponentProps } from "react";
import { type Scope, useScopes } from "../../api/scopes.ts";
import type { useAct } from "../../api/use.ts";
import { Button } from "../button.tsx";
import { useSay } from "../toast.tsx";

interface ActButtonProps<Data> extends Omit<ComponentProps<typeof Button>, "busy" | "onClick"> {
  readonly act: ReturnType<typeof useAct<Data>>;
  /** What the token must allow. */
  readonly scope: Scope;
  /** What is said once it is done: a title, and a sentence. */
  readonly done: (data: Data) => readonly [title: string, says?: string | undefined];
}

/** A button that does one act at once, and says whether it was done. */
export function ActButton<Data>({ act, scope, done, refused, ...rest }: ActButtonProps<Data>) {
  const { refusal } = useScopes();
  const say = useSay();
  const onSuccess = ({ data }: { readonly data: Data }) => say.done(...done(data));
  return (
    <Button
      {...rest}
      busy={act.isPending}
      refused={refusal(scope) ?? refused}
      onClick={() => act.mutate(undefined, { onSuccess, onError: say.failed })}
    />
  );
}
