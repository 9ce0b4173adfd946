import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { type Node, SyntaxKind } from "typescript/unstable/ast";
import { isExportDeclaration, isImportDeclaration, isNamedImports, isStringLiteral } from "typescript/unstable/ast/is";
import { API } from "typescript/unstable/sync";

/** One import of a source file, as the compiler reads it: declarations, re-exports, `import()` and `import("…")` types. */
export interface Import {
  /** The importing file, relative to the project: `lib/sync/run-cycle.ts`. */
  readonly from: string;
  /** The imported file, relative to the project, or the package: `jsforce`, `@aws-sdk/client-sqs`, `node:fs`. */
  readonly to: string;
  /** As written. */
  readonly specifier: string;
  readonly isPackage: boolean;
  /** Nothing of it is there at run time. */
  readonly isType: boolean;
}

const PROJECT = resolve(import.meta.dirname, "../../..");

/** What runs on a server, and what runs in a browser. */
const CONFIGURATIONS = ["tsconfig.json", "lib/console/tsconfig.json"];

/** Every import of the project's own sources, read from their syntax trees. */
export function readImports(): Import[] {
  return CONFIGURATIONS.flatMap(readImportsOf);
}

/** An import is known by its text: nothing of what it leads to is read, which would take most of the time. */
const UNRESOLVED = { noResolve: true, noLib: true, types: [] };

function readImportsOf(configuration: string): Import[] {
  const api = new API({ cwd: PROJECT });
  const folder = mkdtempSync(join(tmpdir(), "bridge-imports-"));
  const openProject = join(folder, "tsconfig.json");
  writeFileSync(openProject, JSON.stringify({ extends: join(PROJECT, configuration), compilerOptions: UNRESOLVED }));
  try {
    const snapshot = api.updateSnapshot({ openProject });
    const [project] = snapshot.getProjects();
    if (!project) throw new Error(`the compiler finds no project: is ${configuration} there?`);
    return project.program.getSourceFileNames().flatMap((file) => {
      const from = relative(PROJECT, file);
      if (from.startsWith("..") || from.includes("node_modules")) return [];
      const imports = project.program.getSourceFile(file)?.imports ?? [];
      return imports.flatMap((specifier) =>
        isStringLiteral(specifier) ? [importOf(from, specifier.text, specifier)] : [],
      );
    });
  } finally {
    api.close();
    rmSync(folder, { recursive: true });
  }
}

function importOf(from: string, specifier: string, node: Node): Import {
  const isPackage = !specifier.startsWith(".");
  const to = isPackage ? packageOf(specifier) : relative(PROJECT, resolve(PROJECT, dirname(from), specifier));
  return { from, to, specifier, isPackage, isType: isTypeOnly(node.parent) };
}

function isTypeOnly(node: Node | undefined): boolean {
  if (node === undefined) return false;
  if (isExportDeclaration(node)) return node.isTypeOnly;
  if (!isImportDeclaration(node)) return node.kind === SyntaxKind.ImportType || node.kind === SyntaxKind.LiteralType;
  const { importClause: clause } = node;
  if (!clause || clause.name) return clause?.phaseModifier === SyntaxKind.TypeKeyword;
  if (clause.phaseModifier === SyntaxKind.TypeKeyword) return true;
  const bindings = clause.namedBindings;
  return bindings !== undefined && isNamedImports(bindings) && bindings.elements.every(({ isTypeOnly }) => isTypeOnly);
}

function packageOf(specifier: string): string {
  if (specifier.startsWith("node:")) return specifier;
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}
