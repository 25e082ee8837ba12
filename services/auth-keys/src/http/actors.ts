import type { Request } from "express";
import type { Actor } from "@payment-links/contracts";
import { getRequestOrigin } from "@payment-links/http";

const operatorCharsMax = 100;

/** Somebody who is not signed in. */
export const visitorActor = (req: Request): Actor => ({
  ...getRequestOrigin(req),
  actor: { kind: "visitor", id: null, operator: null },
  method: null,
});

/** An operator, by the name that the `operator` header gives; the token alone proves who they are. */
export const operatorActor = (req: Request): Actor => {
  const operator = req.get("operator")?.slice(0, operatorCharsMax) ?? null;
  return {
    ...getRequestOrigin(req),
    actor: { kind: "operator", id: null, operator },
    method: null,
  };
};

/** A secret scanner, whose signature was checked. */
export const scannerActor = (req: Request): Actor => ({
  ...getRequestOrigin(req),
  actor: { kind: "scanner", id: null, operator: null },
  method: null,
});
