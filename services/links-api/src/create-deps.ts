import { type Catalogue, createLinkBody, formatAmount, showToken } from "@payment-links/contracts";
import { createDeepPages, createEventStreams } from "@payment-links/http";
import { type Ground, createServiceExports } from "@payment-links/process";
import type { Deps } from "./deps.ts";
import { instructPayer, remainingAmount } from "./domain/payment-instructions.ts";
import { createCounters } from "./metrics.ts";
import { createWrittenAccounts } from "./store/accounts.ts";
import { createDestinationChecks } from "./store/destination-checks.ts";
import { createLinkMarks } from "./store/link-marks.ts";
import { createLinkViews } from "./store/link-views.ts";
import { createListLinks } from "./store/list-links.ts";
import { createPendingPayments } from "./store/payments.ts";
import { findWrongToken } from "./store/wrong-tokens.ts";

type Own = Pick<
  Deps,
  "settlementChains" | "transferChains" | "webhookHeaderPrefix" | "isSignUpOpen" | "wakeRelay"
> & {
  eventStreamLimits: Parameters<typeof createEventStreams>[0]["limits"];
};

/** Makes what the rooms of the service are given. */
export const createDeps = (ground: Ground, { eventStreamLimits: limits, ...own }: Own): Deps => {
  const {
    askSolana,
    askUsedAddresses,
    baseUrl,
    catalogue,
    checkoutUrl,
    clock,
    log,
    metrics,
    pool,
  } = ground;
  const { settlementChains, transferChains } = own;
  const tokenOf = indexTokens(catalogue, checkoutUrl);
  const isDestinationLost = createDestinationChecks({
    askSolana,
    clock,
    onUnknown: (error, chainId) =>
      log.warn({ err: error, chain: chainId }, "a destination on Solana could not be checked"),
  });
  return {
    pool,
    catalogue,
    clock,
    log,
    askSolana,
    askUsedAddresses,
    baseUrl,
    checkoutUrl,
    ...own,
    tokenOf,
    advisePayer: async (link, wish) => {
      const { token } = tokenOf(link.tokenId);
      const advice = instructPayer(link, token, { ...wish, settlementChains, transferChains });
      if ("reason" in advice) return advice;
      const { destinationAddress } = link;
      const isLost = await isDestinationLost({ token, destinationAddress });
      return isLost ? { reason: "destination_not_payable" } : advice;
    },
    findWrongToken: async (link) => {
      const lookalikes = catalogue.lookalikes.filter((one) => one.lookalikeOf === link.tokenId);
      const [{ chainId } = { chainId: "" }] = lookalikes;
      const remaining = remainingAmount(link);
      if (lookalikes.length === 0 || remaining.isZero()) return undefined;
      const tokens = lookalikes.map(({ address }) => address);
      const found = await findWrongToken(pool, {
        link,
        chainId,
        tokens,
        remainingAmount: remaining,
      });
      if (found === undefined) return undefined;
      const token = catalogue.findTokenByAddress(chainId, found.tokenAddress);
      const { amount, sourceTransaction } = found;
      return { amount: formatAmount(amount), symbol: token?.symbol ?? "", sourceTransaction };
    },
    findLinkView: createLinkViews(pool),
    listLinks: createListLinks(),
    listPendingPayments: createPendingPayments(pool),
    findLinkMark: createLinkMarks(pool, clock),
    createBody: createLinkBody(() => clock.now()),
    counters: createCounters(metrics),
    deepPages: createDeepPages({ clock, metrics }),
    exports: createServiceExports(ground, "links-api"),
    eventStreams: createEventStreams({ clock, metrics, limits }),
    writtenAccounts: createWrittenAccounts(),
  };
};

/** Every token is shown once, at the start, because every answer shows a link's token. */
const indexTokens = (catalogue: Catalogue, checkoutUrl: string): Deps["tokenOf"] => {
  const tokens = new Map(
    catalogue.tokens.map((token) => [token.id, { token, shown: showToken(token, checkoutUrl) }]),
  );
  return (tokenId) => {
    const known = tokens.get(tokenId);
    if (known === undefined) throw new Error(`the catalogue has lost the token ${tokenId}`);
    return known;
  };
};
