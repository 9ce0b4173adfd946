/** What the program that the CDK runs prints on standard error when the functions are built. */
export const BUNDLED = "functions bundled";

/** One function as it is deployed: `<out>/<name>/index.mjs`, with what went into it. */
export interface Bundle {
  readonly name: string;
  /** The entry file, relative to the project. */
  readonly entry: string;
  /** The size of index.mjs. */
  readonly bytes: number;
  /** The npm packages whose code is inside, sorted. */
  readonly packages: readonly string[];
}
