const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: "another program has it",
  EACCES: "this user may not use it",
  EADDRNOTAVAIL: "it is no address of this machine",
};

/** The error of a server that did not come to listen, with the remedy where its address was refused; any other as it is. */
export function cannotListen(error: unknown, who: string, remedy: string): unknown {
  const { code = "", address, port } = error as NodeJS.ErrnoException & { address?: string; port?: number };
  const reason = REASONS[code];
  if (reason === undefined) return error;
  return new Error(`${who} cannot listen on ${address}:${port}: ${reason}; ${remedy}`, { cause: error });
}
