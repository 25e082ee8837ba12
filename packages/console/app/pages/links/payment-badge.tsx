import type { PaymentData } from "../../api/operations.ts";
import { Badge } from "../../ui/badge.tsx";
import { texts } from "./texts.ts";

/** The result of a payment in one or two words. */
export const PaymentBadge = ({
  payment: { status, applied, reason, orphaned },
}: {
  payment: Pick<PaymentData, "status" | "applied" | "reason" | "orphaned">;
}) => {
  if (orphaned === true) return <Badge tone="bad">{texts.reversed}</Badge>;
  if (applied) return <Badge tone="good">{texts.applied}</Badge>;
  if (reason === "duplicate") return <Badge tone="quiet">{texts.duplicateReport}</Badge>;
  if (reason !== null) return <Badge tone="warn">{texts.notApplied}</Badge>;
  return status === "failed" ? (
    <Badge tone="bad">{texts.failed}</Badge>
  ) : (
    <Badge tone="warn">{texts.processing}</Badge>
  );
};
