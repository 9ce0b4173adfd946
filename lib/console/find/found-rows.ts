import { useQueries } from "@tanstack/react-query";
import type { ListMappingStatesData, ListRowsData } from "bridge/api";
import { useEffect, useState } from "react";
import { ask } from "../api/ask.ts";
import { questions } from "../api/questions.ts";
import { useScopes } from "../api/scopes.ts";
import { useCredentials } from "../api/session.tsx";
import { hrefOf } from "../route.ts";
import type { Entry } from "./entries.ts";

/** Each is a question of its own; more would spend the requests that an address has. */
const MOST_MAPPINGS = 8;

const ROWS_OF_EACH = 4;

const PAUSE_MILLISECONDS = 250;

type Mapping = ListMappingStatesData[number];

/** Rows that hold a text in one of their mapped columns, asked for once the user has stopped typing. */
export function useFoundRows(typed: string, mappings: readonly Mapping[]) {
  const credentials = useCredentials();
  const { may } = useScopes();
  const text = typed.trim();
  const find = useSettled(text);
  const isWanted = may("operate") && text.length > 1;
  const answers = useQueries({
    queries: mappings.slice(0, MOST_MAPPINGS).map((mapping) => {
      const question = questions.rows(mapping.id, { find, limit: ROWS_OF_EACH });
      return {
        queryKey: [credentials.workspaceId, question.path, question.query],
        queryFn: async ({ signal }: { readonly signal: AbortSignal }) =>
          entriesOf((await ask(credentials, question, signal)).data, mapping.pg_table, find),
        enabled: isWanted && find.length > 1,
        retry: false,
      };
    }),
  });
  return {
    found: isWanted && find === text ? answers.flatMap(({ data }) => data ?? []) : [],
    isSearching: isWanted && (find !== text || answers.some(({ isFetching }) => isFetching)),
  };
}

/** A row by the values that hold the text, and then its first ones. */
function entriesOf({ rows }: ListRowsData, table: string, find: string): readonly Entry[] {
  const holds = (value: string) => value.toLowerCase().includes(find.toLowerCase());
  return rows.map(({ record_id, sfid, values }) => {
    const texts = [...Object.values(values ?? {}), sfid].flatMap((value) => value || []);
    const shown = [...new Set([...texts.filter(holds), ...texts])].slice(0, 3);
    const href = hrefOf(`/rows/${encodeURIComponent(table)}`, { key: String(record_id) });
    return { name: shown.map((value) => value.slice(0, 60)).join(", "), aside: `${table} ${record_id}`, href };
  });
}

/** The text once it has stayed the same for a moment. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MILLISECONDS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
