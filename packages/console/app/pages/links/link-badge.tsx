import type { PaymentLinkData } from "../../api/operations.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { texts } from "./texts.ts";

const tones: Readonly<Record<PaymentLinkData["status"], Tone>> = {
  active: "accent",
  completed: "good",
  inactive: "bad",
};

/** The status of a link. */
export const LinkBadge = ({ status }: Pick<PaymentLinkData, "status">) => (
  <Badge tone={tones[status]}>{texts.statuses[status]}</Badge>
);
