import type { Request } from "express";
import { isId, refuse } from "@payment-links/contracts";
import { readParam } from "@payment-links/http";

/** The endpoint that the path names; an id that cannot be one answers as an unknown endpoint. */
export const readEndpointId = (req: Request): string => {
  const id = readParam(req, "id");
  if (!isId("whe", id)) throw refuse("NOT_FOUND");
  return id;
};
