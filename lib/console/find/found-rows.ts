import { useQuery } from "@tanstack/react-query";
import type { ListMappingStatesData, ListRowsData } from "bridge/api";
import { ask } from "../api/ask.ts";
import { questions } from "../api/questions.ts";
import { useScopes } from "../api/scopes.ts";
import { useCredentials } from "../api/session.tsx";
import { useSettled } from "../api/settled.ts";
import { ASKED_ONCE } from "../api/use.ts";
import { hrefOf } from "../route.ts";
import type { Entry } from "./entries.ts";
import { type SearchedRows, searchRows } from "./search-rows.ts";

const ROWS_OF_EACH = 4;

const PAUSE_MILLISECONDS = 250;

/** Shorter texts are in too many rows. */
const FEWEST_CHARACTERS = 3;

/** A search that takes longer counts as failed; the service ends one after 5 s. */
const SEARCH_SECONDS = 10;

type Mapping = ListMappingStatesData[number];

const NOTHING: SearchedRows = { found: [], notSearched: [] };

/**
 * Rows that hold a text in one of their mapped columns, asked for once the user has stopped typing. One request at a
 * time: each holds one of the ten connections of the database, which the sync needs.
 */
export function useFoundRows(typed: string, mappings: readonly Mapping[]) {
  const credentials = useCredentials();
  const { may } = useScopes();
  const text = typed.trim();
  const find = useSettled(text, PAUSE_MILLISECONDS);
  const isWanted = may("operate") && text.length >= FEWEST_CHARACTERS;
  const isAsked = isWanted && find === text;
  const { data = NOTHING, isFetching } = useQuery<SearchedRows>({
    queryKey: [credentials.workspaceId, "found rows", find, mappings.map(({ id }) => id)],
    queryFn: ({ client, queryKey, signal }) => {
      const search = async (mapping: Mapping) => {
        const question = questions.rows(mapping.id, { find, limit: ROWS_OF_EACH });
        const { data: page } = await ask(credentials, question, undefined, SEARCH_SECONDS);
        return entriesOf(page, mapping.pg_table, find);
      };
      return searchRows(mappings, search, { signal, onFound: (soFar) => client.setQueryData(queryKey, soFar) });
    },
    enabled: isAsked,
    retry: false,
    gcTime: 0,
    ...ASKED_ONCE,
  });
  return { ...(isAsked ? data : NOTHING), isSearching: isWanted && (!isAsked || isFetching) };
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
