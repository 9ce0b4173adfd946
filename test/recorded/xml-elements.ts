/** An element of a document, its namespace resolved; `text` is what is directly in it, as it was written. */
export interface XmlElement {
  readonly name: string;
  readonly namespace: string;
  readonly text: string;
  readonly children: readonly XmlElement[];
}

type Scope = Readonly<Record<string, string>>;
type Open = XmlElement & { text: string; readonly children: XmlElement[]; readonly scope: Scope };

/** The root of a document that has neither comments nor CDATA, as SOAP has not. */
export function elementsIn(xml: string): XmlElement {
  const top: Open = { name: "", namespace: "", text: "", children: [], scope: {} };
  const open = [top];
  for (const [, close, tag = "", attributes = "", empty, text = ""] of xml.matchAll(
    /<(?:(\/)|(?![?!]))([\w:.-]*)([^<>]*?)(\/?)>([^<]*)/g,
  )) {
    const parent = open.at(-1) ?? top;
    if (close) open.pop();
    else if (tag !== "") {
      const element = opened(tag, attributes, parent.scope);
      parent.children.push(element);
      if (!empty) open.push(element);
    }
    const inside = open.at(-1) ?? top;
    inside.text += text;
  }
  const [root] = top.children;
  if (!root || open.length !== 1) throw new Error("the document is not whole");
  return root;
}

function opened(tag: string, attributes: string, outer: Scope): Open {
  const declared = [...attributes.matchAll(/xmlns(?::(\w+))?="([^"]*)"/g)].map(([, prefix = "", uri = ""]) => [
    prefix,
    uri,
  ]);
  const scope: Scope = { ...outer, ...Object.fromEntries(declared) };
  const [prefix, name] = tag.includes(":") ? tag.split(":") : ["", tag];
  return { name: name ?? "", namespace: scope[prefix ?? ""] ?? "", text: "", children: [], scope };
}
