import type { ListMappingStatesData } from "bridge/api";
import type { ReactNode } from "react";
import { Equality } from "./equality.tsx";
import { Moved } from "./moved.tsx";
import { ObjectTable } from "./objects.tsx";
import { TryIt } from "./try-it.tsx";

interface MovementProps {
  readonly mappings: ListMappingStatesData;
  readonly children: ReactNode;
}

/** How equal both sides are, what the page has to say next, and what moves between them. */
export function Movement({ mappings, children }: MovementProps) {
  return (
    <>
      <Equality mappings={mappings} />
      {children}
      <TryIt />
      <Moved />
      <ObjectTable mappings={mappings} />
    </>
  );
}
