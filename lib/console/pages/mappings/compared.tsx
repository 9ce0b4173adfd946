import type { ListMappingStatesData } from "bridge/api";
import { Ago } from "../../parts/time.tsx";
import { count } from "../../parts/words.ts";

/** Rows here, records there, and when the two were last compared. */
export function Compared({ compared }: { readonly compared: ListMappingStatesData[number]["compared"] }) {
  if (!compared) return <>not compared yet</>;
  const { rows, records, differing, vanished, at } = compared;
  const found = [
    ...(differing > 0 ? [`${count(differing)} differed`] : []),
    ...(vanished > 0 ? [`${count(vanished)} without a record`] : []),
  ];
  return (
    <>
      <span className="figure">
        {count(rows)} {rows === records ? "=" : "≠"} {count(records)}
      </span>
      <span className="sub">
        {found.length > 0 && `${found.join(", ")}; `}compared <Ago at={at} />
      </span>
    </>
  );
}
