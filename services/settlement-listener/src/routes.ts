import { type InternalRoute, type Route, publicRoute } from "@payment-links/http";
import type { Deps } from "./deps.ts";
import { cancelRescans } from "./http/cancel-rescans.ts";
import { receiveNotice } from "./http/receive-notice.ts";
import { rescanChain } from "./http/rescan-chain.ts";
import { resumeChain } from "./http/resume-chain.ts";
import { showStatus } from "./http/show-status.ts";
import { tellSolanaFacts } from "./http/tell-solana-facts.ts";
import { tellUsedAddresses } from "./http/tell-used-addresses.ts";

/** Every public route. Notices have a limit of their own, which no provider reaches (rule API-21). */
export const publicRoutes = (deps: Deps): readonly Route[] => [
  publicRoute({
    method: "post",
    path: "/settlement-notices/:provider",
    ownLimit: { policy: "notices", limit: deps.noticeLimit },
    handle: receiveNotice(deps),
  }),
];

/** Every route for the other services and for operators. */
export const internalRoutes = (deps: Deps): readonly InternalRoute[] => [
  {
    method: "post",
    path: "/internal/settlement/solana-facts",
    isForServices: true,
    handle: tellSolanaFacts(deps),
  },
  {
    method: "post",
    path: "/internal/settlement/used-addresses",
    isForServices: true,
    handle: tellUsedAddresses(deps),
  },
  { method: "get", path: "/internal/settlement/status", handle: showStatus(deps) },
  { method: "post", path: "/internal/settlement/rescan", handle: rescanChain(deps) },
  { method: "post", path: "/internal/settlement/cancel-rescans", handle: cancelRescans(deps) },
  { method: "post", path: "/internal/settlement/resume", handle: resumeChain(deps) },
];
