import type { DeliveryAttempt } from "../../api/operations.ts";

/** Describes the response to an attempt: its status, and an error that the status does not say. */
export const describeResponse = ({
  httpStatus,
  error,
}: Pick<DeliveryAttempt, "httpStatus" | "error">): string | null => {
  const parts = [
    ...(httpStatus === null ? [] : [`HTTP ${httpStatus}`]),
    ...(error === null || error === `status ${httpStatus}` ? [] : [error]),
  ];
  return parts.length === 0 ? null : parts.join(" · ");
};
