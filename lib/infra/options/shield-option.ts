import type { Context } from "./names.ts";
import { isOn, textLike } from "./read.ts";

/** A web application firewall before the API: the operator's own, or one rule of ours. */
export type Shield = { readonly webAclArn: string } | { readonly webAclArn: null };

const WEB_ACL = /^arn:[^:]+:wafv2:[^:]+:\d{12}:regional\/webacl\/.+$/;

/** Null without one. `-c webAclArn=` takes the operator's own, `-c shield=true` ours. Throws when both are asked for. */
export function readShield(context: Context): Shield | null {
  const webAclArn = textLike(context, "webAclArn", WEB_ACL, "the ARN of a regional web ACL of WAF");
  if (!isOn(context, "shield")) return webAclArn === null ? null : { webAclArn };
  if (webAclArn === null) return { webAclArn };
  throw new Error("shield and webAclArn exclude each other: an API has one web ACL");
}
