import type { OwnPaymentLinkData } from "../../api/operations.ts";

/**
 * The states of a link in the console. The API has one status, `inactive`, for expired and
 * deactivated links.
 */
export const linkStates = ["open", "paid", "expired", "deactivated"] as const;
export type LinkState = (typeof linkStates)[number];

/** Returns the state of a link. */
export const getLinkState = ({
  status,
  inactiveReason,
}: Pick<OwnPaymentLinkData, "status" | "inactiveReason">): LinkState => {
  if (status === "active") return "open";
  if (status === "completed") return "paid";
  return inactiveReason ?? "deactivated";
};
