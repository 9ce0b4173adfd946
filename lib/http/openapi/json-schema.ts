/** A schema as a part of the document. */
export type JsonSchema = { readonly [key: string]: unknown };
