/** `Credentials`, without what a browser has around it. */
interface Entry {
  readonly workspaceId: string;
  readonly token: string;
}

/**
 * Whether a link that signs in needs the user's consent first: any person can send one, and what its user then types goes
 * into the sender's workspace. On the machine's own addresses `npm start` prints such links; they may not end another
 * workspace's session.
 */
export function needsConsent(hostname: string, linked: Entry, present: Entry | null): boolean {
  if (present?.workspaceId === linked.workspaceId && present.token === linked.token) return false;
  return !isLoopback(hostname) || (present !== null && present.workspaceId !== linked.workspaceId);
}

/** As `location.hostname` has it: in lower case, an address of IPv4 in four numbers, one of IPv6 in brackets. */
const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
