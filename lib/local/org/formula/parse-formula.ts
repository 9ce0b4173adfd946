/** A parsed formula: literals, field paths, calls and operators. */
export type Expression =
  | { readonly kind: "literal"; readonly value: string | number | boolean | null }
  | { readonly kind: "path"; readonly path: readonly string[] }
  | { readonly kind: "call"; readonly name: string; readonly args: readonly Expression[] };

const TOKEN =
  /\s*(?:(\d+(?:\.\d+)?)|"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([$A-Za-z_][\w.]*)|(<>|!=|<=|>=|==|&&|\|\||[-+*/^&=<>!(),]))/y;

const PRECEDENCE: Readonly<Record<string, number>> = {
  "||": 1,
  "&&": 2,
  "=": 3,
  "==": 3,
  "<>": 3,
  "!=": 3,
  "<": 4,
  "<=": 4,
  ">": 4,
  ">=": 4,
  "+": 5,
  "-": 5,
  "&": 5,
  "*": 6,
  "/": 6,
  "^": 7,
};

interface Token {
  readonly kind: "number" | "text" | "name" | "sign" | "end";
  readonly text: string;
}

/** Reads a Salesforce formula; throws an Error that names the place where it cannot continue. */
export function parseFormula(source: string): Expression {
  const parser = new FormulaParser(source, tokensOf(source));
  return parser.whole();
}

function tokensOf(source: string): Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < source.trimEnd().length) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(source);
    if (!match) throw new Error(`formula "${source}": cannot read on at character ${at + 1}`);
    const [, digits, double, single, name, sign = ""] = match;
    if (digits !== undefined) tokens.push({ kind: "number", text: digits });
    else if (double !== undefined || single !== undefined)
      tokens.push({ kind: "text", text: unescaped(double ?? single ?? "") });
    else tokens.push(name === undefined ? { kind: "sign", text: sign } : { kind: "name", text: name });
  }
  return tokens;
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, (_, letter: string) => ({ n: "\n", t: "\t", r: "\r" })[letter] ?? letter);
}

const END: Token = { kind: "end", text: "the end" };

class FormulaParser {
  readonly #source: string;
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(source: string, tokens: readonly Token[]) {
    this.#source = source;
    this.#tokens = tokens;
  }

  whole(): Expression {
    const expression = this.#binary(1);
    if (this.#peek().kind !== "end") throw this.#unexpected();
    return expression;
  }

  #binary(least: number): Expression {
    let left = this.#unary();
    for (;;) {
      const sign = this.#peek();
      const precedence = sign.kind === "sign" ? PRECEDENCE[sign.text] : undefined;
      if (precedence === undefined || precedence < least) return left;
      this.#at++;
      left = { kind: "call", name: sign.text, args: [left, this.#binary(precedence + 1)] };
    }
  }

  #unary(): Expression {
    if (this.#take("-")) return { kind: "call", name: "-", args: [{ kind: "literal", value: 0 }, this.#unary()] };
    if (this.#take("!")) return { kind: "call", name: "NOT", args: [this.#unary()] };
    if (this.#take("(")) {
      const inner = this.#binary(1);
      this.#expect(")");
      return inner;
    }
    return this.#operand();
  }

  #operand(): Expression {
    const token = this.#peek();
    this.#at++;
    if (token.kind === "number") return { kind: "literal", value: Number(token.text) };
    if (token.kind === "text") return { kind: "literal", value: token.text };
    if (token.kind !== "name") {
      this.#at--;
      throw this.#unexpected();
    }
    if (this.#take("(")) return { kind: "call", name: token.text.toUpperCase(), args: this.#args() };
    return constant(token.text) ?? { kind: "path", path: token.text.split(".") };
  }

  #args(): Expression[] {
    const args: Expression[] = [];
    if (this.#take(")")) return args;
    do args.push(this.#binary(1));
    while (this.#take(","));
    this.#expect(")");
    return args;
  }

  #peek(): Token {
    return this.#tokens[this.#at] ?? END;
  }

  #take(sign: string): boolean {
    const isThere = this.#peek().kind === "sign" && this.#peek().text === sign;
    if (isThere) this.#at++;
    return isThere;
  }

  #expect(sign: string): void {
    if (!this.#take(sign)) throw this.#unexpected();
  }

  #unexpected(): Error {
    return new Error(`formula "${this.#source}": did not expect ${this.#peek().text}`);
  }
}

function constant(name: string): Expression | undefined {
  const values: Record<string, boolean | null> = { true: true, false: false, null: null };
  const value = values[name.toLowerCase()];
  return value === undefined ? undefined : { kind: "literal", value };
}

/** All field paths that the expression reads, each once. */
export function pathsOf(expression: Expression): string[][] {
  const found = new Map<string, string[]>();
  const visit = (node: Expression): void => {
    if (node.kind === "path") found.set(node.path.join(".").toLowerCase(), [...node.path]);
    if (node.kind === "call") node.args.forEach(visit);
  };
  visit(expression);
  return [...found.values()];
}
