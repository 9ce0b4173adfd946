import { Autocomplete } from "@base-ui/react/autocomplete";
import { Dialog } from "@base-ui/react/dialog";
import { useState } from "react";
import { questions } from "../api/questions.ts";
import { useScopes } from "../api/scopes.ts";
import { useAnswer } from "../api/use.ts";
import { PauseDialog } from "../pages/fleet/pause.tsx";
import { go, hrefOf } from "../route.ts";
import { type Entry, isKey, matching, PAGES, rowsOfKey } from "./entries.ts";
import { useFoundRows } from "./found-rows.ts";
import { useMappingActs } from "./mapping-acts.tsx";
import { notSearchedEntry } from "./search-rows.ts";

interface Group {
  readonly name: string;
  readonly items: readonly Entry[];
}

interface FindProps {
  /** The places of the menu. */
  readonly places: readonly { readonly path: string; readonly name: string }[];
  readonly onClose: () => void;
}

const hostOf = (url: string): string => new URL(url).host;

/** Finds mappings, pages, actions and rows by what is typed; Enter goes there, or does it. */
export function Find({ places, onClose }: FindProps) {
  const [text, setText] = useState("");
  const [pauses, setPauses] = useState(false);
  const { may, refusal } = useScopes();
  const mappings = useAnswer(questions.mappings).data?.data ?? [];
  const webhooks = useAnswer(questions.webhooks).data?.data ?? [];
  const tokens = useAnswer(questions.tokens, { when: may("admin") }).data?.data ?? [];
  const { found, notSearched, isSearching } = useFoundRows(text, mappings);
  const acts = useMappingActs(mappings, onClose);
  if (pauses) return <PauseDialog what="everything" onClose={onClose} />;
  const pages = [...places, ...PAGES].map(({ name, path }) => ({ name, href: hrefOf(path) }));
  const ofWebhooks = webhooks.map(({ id, url }) => ({
    name: `Webhook ${hostOf(url)}`,
    href: hrefOf(`/webhooks/${id}`),
  }));
  const rotations = [
    ...webhooks.map(({ id, url }) => ({
      name: `Rotate the secret of ${hostOf(url)}`,
      href: hrefOf(`/webhooks/${id}`, { rotate: "true" }),
    })),
    ...tokens
      .filter(({ state }) => state === "valid")
      .map(({ id, name }) => ({ name: `Rotate the token ${name}`, href: hrefOf("/tokens", { rotate: id }) })),
  ].map((entry) => ({ ...entry, refused: refusal("admin") }));
  const ofMappings = mappings.map(({ id, sf_object: name, pg_table: aside }) => ({
    ...{ name, aside },
    href: hrefOf(`/mappings/${id}`),
  }));
  const pauseAll = { name: "Pause everything", refused: refusal("operate"), onChoose: () => setPauses(true) };
  const isMissed = !isSearching && found.length === 0 && text.trim().length > 1;
  const byKey = isKey(text) || isMissed ? rowsOfKey(text, mappings) : [];
  const groups: readonly Group[] = [
    { name: "Mappings", items: matching(ofMappings, text) },
    { name: "Pages", items: matching([...pages, ...ofWebhooks], text) },
    { name: "Actions", items: matching([...acts, pauseAll, ...rotations], text) },
    { name: "Rows", items: [...byKey, ...found, ...notSearchedEntry(notSearched)] },
  ].filter(({ items }) => items.length > 0);
  const choose = ({ refused, href, onChoose }: Entry) => {
    if (refused) return;
    if (href) {
      onClose();
      go(href);
    }
    onChoose?.();
  };
  return (
    <Dialog.Root open onOpenChange={(opens) => !opens && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="veil" />
        <Dialog.Popup className="dialog find" aria-label="Find">
          <Autocomplete.Root
            inline
            open
            mode="none"
            autoHighlight="always"
            keepHighlight
            items={groups}
            value={text}
            onValueChange={(value, { reason }) => reason !== "item-press" && setText(value)}
            itemToStringValue={({ name }: Entry) => name}
          >
            <Autocomplete.Input
              className="input"
              aria-label="Find a row, a mapping, a page or an action"
              placeholder="A name, an e-mail address, a key, a page, an action"
              autoFocus
              spellCheck={false}
            />
            <p role="status" className="small muted">
              {isSearching ? "Searching the rows" : "Arrows and Enter to choose, Esc to leave"}
            </p>
            <Autocomplete.List className="found" aria-label="Found">
              {(group: Group) => (
                <Autocomplete.Group key={group.name} items={group.items}>
                  <Autocomplete.GroupLabel className="nav-group">{group.name}</Autocomplete.GroupLabel>
                  <Autocomplete.Collection>
                    {(entry: Entry) => (
                      <Autocomplete.Item
                        key={`${entry.name} ${entry.href}`}
                        value={entry}
                        className="choice"
                        disabled={Boolean(entry.refused)}
                        title={entry.refused ?? undefined}
                        onClick={() => choose(entry)}
                      >
                        <span className="breaks">{entry.name}</span>
                        {entry.aside && <span className="aside">{entry.aside}</span>}
                      </Autocomplete.Item>
                    )}
                  </Autocomplete.Collection>
                </Autocomplete.Group>
              )}
            </Autocomplete.List>
          </Autocomplete.Root>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
