import { type InternalRoute, type Route, publicRoute } from "@payment-links/http";
import type { Dependencies } from "./dependencies.ts";
import { cancelRescans } from "./http/cancel-rescans.ts";
import { receiveNotice } from "./http/receive-notice.ts";
import { rescanChain } from "./http/rescan-chain.ts";
import { resumeChain } from "./http/resume-chain.ts";
import { getStatus } from "./http/get-status.ts";
import { getSolanaAccountState } from "./http/get-solana-account-state.ts";
import { getUsedAddresses } from "./http/get-used-addresses.ts";

/**
 * The public routes. Notices have their own rate limit, which is too high for a real provider to
 * reach (rule API-21).
 */
export const createPublicRoutes = (dependencies: Dependencies): readonly Route[] => [
  publicRoute({
    method: "post",
    path: "/settlement-notices/:provider",
    routeLimit: { policy: "notices", limit: dependencies.noticeLimit },
    handle: receiveNotice(dependencies),
  }),
];

/** The routes for other services and for operators. */
export const createInternalRoutes = (dependencies: Dependencies): readonly InternalRoute[] => [
  {
    method: "post",
    path: "/internal/settlement/solana-facts",
    isForServices: true,
    handle: getSolanaAccountState(dependencies),
  },
  {
    method: "post",
    path: "/internal/settlement/used-addresses",
    isForServices: true,
    handle: getUsedAddresses(dependencies),
  },
  { method: "get", path: "/internal/settlement/status", handle: getStatus(dependencies) },
  { method: "post", path: "/internal/settlement/rescan", handle: rescanChain(dependencies) },
  {
    method: "post",
    path: "/internal/settlement/cancel-rescans",
    handle: cancelRescans(dependencies),
  },
  { method: "post", path: "/internal/settlement/resume", handle: resumeChain(dependencies) },
];
