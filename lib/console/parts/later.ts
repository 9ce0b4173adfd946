import { type ComponentType, lazy } from "react";
import { Refused } from "../api/ask.ts";

/** A component whose code is loaded when it is first shown. */
export const later = <Props>(load: () => Promise<ComponentType<Props>>) =>
  lazy(async () => ({ default: await load().catch(onMissing) }));

const KEY = "bridge.reloaded";

/** A page that was just reloaded and misses its code still is not reloaded again. */
const AGAIN_AFTER_MILLISECONDS = 60_000;

/** After a deployment the code that this page knows is gone: the page is reloaded, once. The session stays. */
async function onMissing(cause: unknown): Promise<never> {
  const isRecent = Date.now() - Number(sessionStorage.getItem(KEY) ?? 0) < AGAIN_AFTER_MILLISECONDS;
  if (!(await isReachable()))
    throw new Refused({ code: "UNREACHABLE", message: "The code of this page did not load." });
  if (isRecent) throw new Error("the code of this page is missing", { cause });
  sessionStorage.setItem(KEY, String(Date.now()));
  location.reload();
  return new Promise(() => undefined); // until the new page takes over
}

/** Whether there is a page to load; without one the browser would show its own in place of the console. */
async function isReachable(): Promise<boolean> {
  try {
    return (await fetch(document.baseURI, { cache: "no-store" })).ok;
  } catch {
    return false;
  }
}
