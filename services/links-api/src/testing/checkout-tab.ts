import { readFileSync } from "node:fs";
import { SourceTextModule, createContext } from "node:vm";
import { waitUntil } from "@payment-links/runtime/testing";

const script = readFileSync(new URL("../pages/assets/checkout.js", import.meta.url), "utf8");

/** The script's own wait between two looks at the link. Every other wait ends at once here. */
const pollMs = 4_000;

type TabOptions = {
  linkId: string;
  chainId: string;
  /** What a path of our own site answers. */
  get: (path: string) => Promise<{ status: number; json: unknown }>;
  /** The browser's wallet (EIP-1193), where it has one. */
  wallet?: (request: { method: string; params: unknown[] }) => Promise<unknown>;
};

/** Opens the checkout of a link in a tab of a browser that has no more than its script needs. */
export const openCheckoutTab = async ({ linkId, chainId, get, wallet }: TabOptions) => {
  const live = { textContent: "" };
  let click: (() => Promise<void>) | undefined;
  const button = {
    hidden: true,
    disabled: false,
    addEventListener: (_type: string, listener: () => Promise<void>) => (click = listener),
  };
  const elements: Record<string, unknown> = {
    "#pay": { dataset: { link: linkId, chain: chainId } },
    "#live": live,
    "#wallet": button,
  };
  let reloads = 0;
  let look: (() => void) | undefined;
  const context = createContext({
    document: { hidden: false, querySelector: (selector: string) => elements[selector] },
    location: { reload: () => (reloads += 1) },
    window: wallet === undefined ? {} : { ethereum: { request: wallet } },
    fetch: async (path: string) => {
      const { status, json } = await get(path);
      return { ok: status === 200, json: async () => json };
    },
    setTimeout: (run: () => void, delayMs: number) => {
      if (delayMs === pollMs) look = run;
      else setImmediate(run);
    },
  });
  const module = new SourceTextModule(script, { context });
  await module.link(() => {
    throw new Error("the script imports nothing");
  });
  // It follows the link while the tab is open, so it never ends.
  void module.evaluate();
  const untilWaiting = () => waitUntil("the script waits", () => look !== undefined);
  await untilWaiting();
  return {
    hasButton: () => !button.hidden,
    isButtonEnabled: () => !button.disabled,
    said: () => live.textContent,
    reloads: () => reloads,
    clickPay: async (): Promise<void> => click?.(),
    /** Lets the time pass until the script has looked at the link once more. */
    lookAgain: async (): Promise<void> => {
      const run = look;
      look = undefined;
      run?.();
      await untilWaiting();
    },
  };
};
