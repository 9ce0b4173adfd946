import type { Context } from "./names.ts";
import { textLike } from "./read.ts";

/** A domain of the operator's own before the API. */
export interface Domain {
  /** `-c domainName=`: `bridge.example.com`. */
  readonly name: string;
  /** `-c certificateArn=`: of ACM, for this name, in the region of the stacks. */
  readonly certificateArn: string;
  /** `-c basePath=`: one segment, when other APIs share the domain; null: the API has it to itself. */
  readonly basePath: string | null;
}

const NAME = /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/;
const CERTIFICATE = /^arn:[^:]+:acm:[^:]+:\d{12}:certificate\/.+$/;

/** Null without a domain. Throws where a part is missing or malformed. */
export function readDomain(context: Context): Domain | null {
  const name = textLike(context, "domainName", NAME, "a host's full name in lower case, like bridge.example.com");
  const certificateArn = textLike(context, "certificateArn", CERTIFICATE, "the ARN of a certificate of ACM");
  const basePath = textLike(context, "basePath", /^[\w.~-]+$/, "one segment of a path, without slashes");
  if (name !== null && certificateArn !== null) return { name, certificateArn, basePath };
  if (name !== null)
    throw new Error(`domainName needs certificateArn, a certificate of ACM for ${name} in this region`);
  if (certificateArn !== null) throw new Error("certificateArn needs domainName, the name that the certificate is for");
  if (basePath !== null) throw new Error("basePath needs domainName: without one the path begins with the stage");
  return null;
}

/** The contract's {base_url} at the domain. */
export const baseUrlAt = ({ name, basePath }: Domain): string => `https://${name}${basePath ? `/${basePath}` : ""}`;
