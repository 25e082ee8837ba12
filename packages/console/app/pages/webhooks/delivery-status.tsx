import type { DeliveryData } from "../../api/operations.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { texts } from "./texts.ts";

const tones: Readonly<Record<DeliveryData["status"], Tone>> = {
  Pending: "warn",
  Delivered: "good",
  Failed: "bad",
};

/** The status of a delivery. */
export const DeliveryStatus = ({ status }: Pick<DeliveryData, "status">) => (
  <Badge tone={tones[status]}>{texts.statuses[status]}</Badge>
);
