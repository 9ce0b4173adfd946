import { refuseOpening } from "../../model/address.ts";
import type { Context } from "./names.ts";
import { listLike, textLike } from "./read.ts";

/** The private network of the functions that reach customers' databases. */
export interface Network {
  /** `-c subnetIds=`: private subnets with a way out, best two or more. */
  readonly subnetIds: readonly string[];
  /** `-c securityGroupIds=`: what the databases' own groups let in. */
  readonly securityGroupIds: readonly string[];
  /** `-c openedRanges=`: private addresses that connections may name, CIDR. */
  readonly openedRanges: readonly string[];
  /** `-c httpsProxy=`: what orgs are reached by; null: the network's own way out. */
  readonly httpsProxy: string | null;
}

/** Null without a network: functions then reach public addresses only. Throws where a part is missing or malformed. */
export function readNetwork(context: Context): Network | null {
  const subnetIds = listLike(context, "subnetIds", /^subnet-[0-9a-f]{8,17}$/, "the id of a subnet");
  const securityGroupIds = listLike(context, "securityGroupIds", /^sg-[0-9a-f]{8,17}$/, "the id of a security group");
  const openedRanges = listLike(context, "openedRanges", /./, "a range of addresses like 10.0.0.0/16");
  const httpsProxy = textLike(
    context,
    "httpsProxy",
    /^https?:\/\/[^\s/]+$/,
    "an address like http://proxy.internal:3128",
  );
  const refused = openedRanges?.map(refuseOpening).find((sentence) => sentence !== null);
  if (refused) throw new Error(`openedRanges: ${refused}`);
  if (subnetIds !== null && securityGroupIds !== null) {
    if (openedRanges !== null) return { subnetIds, securityGroupIds, openedRanges, httpsProxy };
    throw new Error("subnetIds needs openedRanges, the private addresses of the databases: all others stay refused");
  }
  if (subnetIds !== null) throw new Error("subnetIds needs securityGroupIds, which the databases let in");
  if (securityGroupIds !== null) throw new Error("securityGroupIds needs subnetIds, the subnets of the functions");
  if (openedRanges !== null) {
    throw new Error("openedRanges needs subnetIds and securityGroupIds: outside of a VPC nothing private is reached");
  }
  if (httpsProxy !== null)
    throw new Error("httpsProxy needs subnetIds: functions outside of a VPC reach no proxy of yours");
  return null;
}
