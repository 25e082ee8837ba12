import type { ApiKeyData } from "../../api/operations.ts";
import { formatDateTime } from "../../ui/format.ts";
import { texts } from "./texts.ts";

/** Describes when and from which address a key was last used. */
export const describeLastUse = ({ lastUsedAt, lastUsedAddress }: ApiKeyData): string => {
  if (lastUsedAt === null) return texts.neverUsed;
  const fromText = lastUsedAddress === null ? "" : ` ${texts.fromAddress} ${lastUsedAddress}`;
  return `${formatDateTime(lastUsedAt)}${fromText}`;
};

/** Describes a key's allowed addresses and rate limits. */
export const describeLimits = ({ cidrs, requestsPerMinute, burst }: ApiKeyData): string => {
  const limits = [
    ...(cidrs === null ? [] : [texts.allowedAddresses(cidrs.join(", "))]),
    ...(requestsPerMinute === null ? [] : [texts.requestsPerMinuteLimit(requestsPerMinute)]),
    ...(burst === null ? [] : [texts.burstLimit(burst)]),
  ];
  return limits.length === 0 ? texts.installationLimits : limits.join(", ");
};
