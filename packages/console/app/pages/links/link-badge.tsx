import type { OwnPaymentLinkData } from "../../api/operations.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { type LinkState, getLinkState } from "./link-state.ts";
import { texts } from "./texts.ts";

const tones: Readonly<Record<LinkState, Tone>> = {
  open: "accent",
  paid: "good",
  expired: "quiet",
  deactivated: "quiet",
};

/** The state of a link. */
export const LinkBadge = ({
  link,
}: {
  link: Pick<OwnPaymentLinkData, "status" | "inactiveReason">;
}) => {
  const state = getLinkState(link);
  return <Badge tone={tones[state]}>{texts.states[state]}</Badge>;
};
