import type { Request } from "express";
import type { Actor } from "@payment-links/contracts";
import { getRequestOrigin } from "@payment-links/http";

const operatorCharsMax = 100;

/** Returns the actor of a request without a session. */
export const visitorActor = (req: Request): Actor => ({
  ...getRequestOrigin(req),
  actor: { kind: "visitor", id: null, operator: null },
  method: null,
});

/**
 * Returns an operator as the actor, with the name from the `operator` header. Only the token is
 * authenticated, not the name.
 */
export const operatorActor = (req: Request): Actor => {
  const operator = req.get("operator")?.slice(0, operatorCharsMax) ?? null;
  return {
    ...getRequestOrigin(req),
    actor: { kind: "operator", id: null, operator },
    method: null,
  };
};

/** Returns a secret scanner as the actor, after its signature was verified. */
export const scannerActor = (req: Request): Actor => ({
  ...getRequestOrigin(req),
  actor: { kind: "scanner", id: null, operator: null },
  method: null,
});
