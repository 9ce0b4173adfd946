import type { Browser, BrowserContext, Page } from "playwright-core";
import { startBrowser } from "../support/clients/browser.ts";
import { type Receiver, startReceiver } from "../support/doubles/receiver.ts";
import { type RunningBridge, startRunningBridge } from "../support/worlds/running-bridge.ts";
import type { TestWorkspace } from "../support/worlds/workspace.ts";

/** The service with everything around it, and a browser before it. */
export interface ConsoleWorld {
  readonly bridge: RunningBridge;
  readonly browser: Browser;
  readonly receiver: Receiver;
  close(): Promise<void>;
}

export async function startConsoleWorld(): Promise<ConsoleWorld> {
  const [bridge, browser, receiver] = await Promise.all([startRunningBridge(), startBrowser(), startReceiver(200)]);
  return {
    bridge,
    browser,
    receiver,
    close: async () => {
      await browser.close();
      await receiver.close();
      await bridge.close();
    },
  };
}

/** A page of a user who is signed in, as the sign-in itself leaves it. */
export async function signedIn(
  context: BrowserContext,
  { bridge }: ConsoleWorld,
  workspace: Pick<TestWorkspace, "id" | "token">,
): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${bridge.baseUrl}/#/sign-in?workspace=${workspace.id}&token=${workspace.token}`);
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  return page;
}

/** Goes to a place of the console. */
export async function goTo(page: Page, { bridge }: ConsoleWorld, path: string): Promise<void> {
  await page.goto(`${bridge.baseUrl}/#${path}`);
}
