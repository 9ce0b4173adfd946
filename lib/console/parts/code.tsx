const MOST_ROWS = 24;

/** Text of a machine, as a field that cannot be written to: keyboards reach it, scroll it and take from it. */
export function Code({ text, label }: { readonly text: string; readonly label: string }) {
  const rows = Math.min(MOST_ROWS, text.split("\n").length);
  return <textarea className="code" readOnly spellCheck={false} rows={rows} value={text} aria-label={label} />;
}
