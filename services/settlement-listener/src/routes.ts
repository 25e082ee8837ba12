import { type InternalRoute, type Route, publicRoute } from "@payment-links/http";
import type { Deps } from "./deps.ts";
import { receiveNotice } from "./http/receive-notice.ts";
import { replayDeadLetters } from "./http/replay-dead-letters.ts";
import { showDeadLetters } from "./http/show-dead-letters.ts";
import { showStatus } from "./http/show-status.ts";

const deadLetters = "/internal/dead-letters/settlement-listener";

/** Every public route. Notices are never limited per address: each is signed (interfaces §1). */
export const publicRoutes = (deps: Deps): readonly Route[] => [
  publicRoute({
    method: "post",
    path: "/settlement-notices/:provider",
    isLimited: false,
    handle: receiveNotice(deps),
  }),
];

/** Every route for operators. */
export const internalRoutes = (deps: Deps): readonly InternalRoute[] => [
  { method: "get", path: "/internal/settlement/status", handle: showStatus(deps) },
  { method: "get", path: deadLetters, handle: showDeadLetters(deps) },
  { method: "post", path: `${deadLetters}/replay`, handle: replayDeadLetters(deps) },
];
