/** Variables that mean something on Lambda alone: neither the file that one names nor CloudWatch is on this machine. */
export const FOR_LAMBDA_ALONE: ReadonlySet<string> = new Set(["NODE_EXTRA_CA_CERTS", "METRICS_NAMESPACE"]);
