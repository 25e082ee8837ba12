import type { Request } from "express";
import type { Actor } from "@payment-links/contracts";

const userAgentCharsMax = 300;

/** Returns the IP address and user agent of a request, for the audit log. */
export const getRequestOrigin = (req: Request): Pick<Actor, "address" | "userAgent"> => ({
  address: req.ip ?? null,
  userAgent: req.get("user-agent")?.slice(0, userAgentCharsMax) ?? null,
});

/** Returns the actor of a session for the audit log. */
export const createSessionActor = (
  req: Request,
  { id, method = null }: { id: string; method?: string | null | undefined },
): Actor => ({
  actor: { kind: "session", id, operator: null },
  method,
  ...getRequestOrigin(req),
});
