import type { Payer } from "./create-checkout.ts";

/** The methods that a wallet's app handles itself. It forwards all other methods to its node. */
const methodsOfWalletApp = [
  "eth_requestAccounts",
  "eth_accounts",
  "eth_chainId",
  "eth_sendTransaction",
  "wallet_switchEthereumChain",
  "wallet_addEthereumChain",
];

/**
 * Makes the payer's wallets read the chain with `fetch` from within the page, like the provider in
 * Trust Wallet's browser.
 */
export const readChainFromPage = (
  { page }: Pick<Payer, "page">,
  nodeUrl: string,
): Promise<unknown> =>
  page.addInitScript(`addEventListener("eip6963:announceProvider", ({ detail: { provider } }) => {
    if (provider.readsInPage) return;
    const { request } = provider;
    const answeredByApp = ${JSON.stringify(methodsOfWalletApp)};
    provider.readsInPage = true;
    provider.request = async ({ method, params }) => {
      if (answeredByApp.includes(method)) return request({ method, params });
      const response = await fetch(${JSON.stringify(nodeUrl)}, {
        method: "POST",
        headers: { Accept: "application/json", "Content-Type": "application/json" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      });
      const { result, error } = await response.json();
      if (!result && error) throw new Error(error.message || "rpc error");
      return result;
    };
  })`);
