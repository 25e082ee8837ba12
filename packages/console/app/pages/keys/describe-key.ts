import type { ApiKeyData } from "../../api/operations.ts";
import { texts } from "./texts.ts";

/** Describes a key's allowed addresses and rate limits. Returns null if it has none of its own. */
export const describeLimits = ({ cidrs, requestsPerMinute, burst }: ApiKeyData): string | null => {
  const limits = [
    ...(cidrs === null ? [] : [texts.allowedAddresses(cidrs.join(", "))]),
    ...(requestsPerMinute === null ? [] : [texts.requestsPerMinuteLimit(requestsPerMinute)]),
    ...(burst === null ? [] : [texts.burstLimit(burst)]),
  ];
  return limits.length === 0 ? null : limits.join(", ");
};
