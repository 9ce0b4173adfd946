import { type AddressInfo, createServer } from "node:net";

/** The wanted port of 127.0.0.1 when it is free, else one that is. */
export async function freePort(wanted = 0): Promise<number> {
  try {
    return await tried(wanted);
  } catch {
    return tried(0);
  }
}

function tried(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      const found = (server.address() as AddressInfo).port;
      server.close(() => resolve(found));
    });
  });
}
