import { type AddressPolicy, judgeUrl } from "../../model/address.ts";
import { refuseAddress } from "./addresses.ts";
import { addressesOf, type Resolve } from "./resolve.ts";

/** A request is refused before any connection. The message names the rule and never the address that was found. */
export class AddressRefused extends Error {
  constructor(why: string) {
    super(`the URL ${why}`);
    this.name = "AddressRefused";
  }
}

/** A URL that may be asked, with the very addresses that were judged: connect to these and to no others. */
export interface Vetted {
  readonly url: URL;
  readonly addresses: readonly string[];
}

/**
 * Judges a URL and every address behind it; one bad address among good ones refuses it. Rejects with `AddressRefused`,
 * with the DNS's error, or when `signal` aborts.
 */
export async function vet(text: string, policy: AddressPolicy, resolve: Resolve, signal: AbortSignal): Promise<Vetted> {
  const { url, refused } = judgeUrl(text, policy);
  if (url === null) throw new AddressRefused(refused);
  const addresses = await addressesOf(url.hostname, resolve, signal);
  if (addresses.length === 0) throw new AddressRefused("names a host without an address");
  for (const address of addresses) {
    const what = refuseAddress(address, policy);
    if (what !== null) throw new AddressRefused(`points to ${what}`);
  }
  return { url, addresses };
}

/** Milliseconds that the DNS has when a URL is saved. */
const SAVE_MILLISECONDS = 2000;

/**
 * Why a URL can't be saved, to follow "the URL …"; null when nothing speaks against it. A name that does not resolve now
 * may do so later, and every attempt asks again.
 */
export function urlGuard(policy: AddressPolicy, resolve: Resolve): (text: string) => Promise<string | null> {
  return async (text) => {
    try {
      await vet(text, policy, resolve, AbortSignal.timeout(SAVE_MILLISECONDS));
      return null;
    } catch (error) {
      return error instanceof AddressRefused ? error.message.replace(/^the URL /, "") : null;
    }
  };
}
