import type { Request } from "express";
import type { Caller } from "@payment-links/identity";
import type { Actor } from "../domain/audit.ts";

const userAgentCharsMax = 300;
const operatorCharsMax = 100;

const placeOf = (req: Request) => ({
  address: req.ip ?? null,
  userAgent: req.get("user-agent")?.slice(0, userAgentCharsMax) ?? null,
});

/** The person behind a session, for the audit log. */
export const personActor = (
  req: Request,
  { id }: Caller["credential"] | { id: string },
): Actor => ({
  kind: "session",
  id,
  ...placeOf(req),
});

/** Somebody who is not signed in. */
export const visitorActor = (req: Request): Actor => ({ kind: "visitor", ...placeOf(req) });

/** An operator, by the name that the `operator` header gives; the token alone proves who they are. */
export const operatorActor = (req: Request): Actor => ({
  kind: "operator",
  name: req.get("operator")?.slice(0, operatorCharsMax) ?? null,
  ...placeOf(req),
});

/** A secret scanner, whose signature was checked. */
export const scannerActor = (req: Request): Actor => ({ kind: "scanner", ...placeOf(req) });
