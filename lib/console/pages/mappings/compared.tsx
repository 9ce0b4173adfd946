import type { ListMappingStatesData } from "bridge/api";
import { Ago } from "../../parts/time.tsx";

/** What the last comparison of both sides found, all rows and records counted. */
export function Compared({ compared }: { readonly compared: ListMappingStatesData[number]["compared"] }) {
  if (!compared) return <>not compared yet</>;
  return (
    <>
      {compared.equal ? "Both sides equal. " : ""}
      {compared.says}{" "}
      <span className="sub">
        compared <Ago at={compared.at} />
      </span>
    </>
  );
}
