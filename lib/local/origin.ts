/** `http://127.0.0.1:8080`; an address of IPv6 is in brackets (RFC 3986, 3.2.2). */
export function originOf(scheme: "http" | "https", address: string, port: number): string {
  return `${scheme}://${address.includes(":") ? `[${address}]` : address}:${port}`;
}
