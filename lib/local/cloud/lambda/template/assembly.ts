import { readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";

/** One resource of a template, as the CDK wrote it: its properties may still hold references. */
export interface TemplateResource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
}

/** One synthesized stack. */
export interface Stack {
  readonly name: string;
  readonly resources: Readonly<Record<string, TemplateResource>>;
  readonly outputs: Readonly<Record<string, { readonly Value: unknown; readonly Export?: { readonly Name: unknown } }>>;
}

/** What `cdk synth` left in a folder. */
export interface Assembly {
  readonly stacks: readonly Stack[];
  /** The folder of a key in the assets' bucket. */
  assetFolder(objectKey: string): string;
}

interface Manifest {
  readonly artifacts: Readonly<Record<string, Artifact>>;
}

interface Artifact {
  readonly type: string;
  readonly properties?: { readonly templateFile?: string; readonly file?: string; readonly stackName?: string };
}

interface AssetManifest {
  readonly files: Readonly<
    Record<
      string,
      {
        readonly source: { readonly path: string };
        readonly destinations: Readonly<Record<string, { readonly objectKey: string }>>;
      }
    >
  >;
}

/** Reads templates and asset manifests of a cloud assembly. Throws when the folder is none. */
export function readAssembly(folder: string): Assembly {
  const artifacts = Object.entries(readManifest(folder).artifacts);
  const assets = new Map<string, string>();
  for (const [, { type, properties }] of artifacts) {
    if (type !== "cdk:asset-manifest" || !properties?.file) continue;
    const { files } = readJson<AssetManifest>(join(folder, properties.file));
    for (const { source, destinations } of Object.values(files)) {
      for (const { objectKey } of Object.values(destinations)) assets.set(objectKey, resolve(folder, source.path));
    }
  }
  return {
    stacks: artifacts.flatMap(([id, artifact]) => stackOf(folder, id, artifact)),
    assetFolder(objectKey) {
      const found = assets.get(basename(objectKey));
      if (found === undefined) throw new Error(`no asset manifest in ${folder} knows ${objectKey}: synthesize again`);
      return found;
    },
  };
}

function readManifest(folder: string): Manifest {
  try {
    return readJson(join(folder, "manifest.json"));
  } catch (cause) {
    throw new Error(`${folder} holds no cloud assembly: run npm run synth first`, { cause });
  }
}

function stackOf(folder: string, id: string, { type, properties }: Artifact): Stack[] {
  if (type !== "aws:cloudformation:stack" || !properties?.templateFile) return [];
  const { Resources, Outputs } = readJson<{ Resources?: Stack["resources"]; Outputs?: Stack["outputs"] }>(
    join(folder, properties.templateFile),
  );
  return [{ name: properties.stackName ?? id, resources: Resources ?? {}, outputs: Outputs ?? {} }];
}

function readJson<Shape>(file: string): Shape {
  return JSON.parse(readFileSync(file, "utf8")) as Shape;
}
