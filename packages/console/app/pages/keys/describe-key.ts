import type { ApiKeyData } from "../../api/operations.ts";
import { showTime } from "../../ui/format.ts";
import { texts } from "./texts.ts";

/** When a key was last used, and from where. */
export const lastUseOf = ({ lastUsedAt, lastUsedAddress }: ApiKeyData): string => {
  if (lastUsedAt === null) return texts.neverUsed;
  const from = lastUsedAddress === null ? "" : ` ${texts.from} ${lastUsedAddress}`;
  return `${showTime(lastUsedAt)}${from}`;
};

/** What narrows a key beside its scopes. */
export const limitsOf = ({ cidrs, requestsPerMinute, burst }: ApiKeyData): string => {
  const limits = [
    ...(cidrs === null ? [] : [texts.onlyFrom(cidrs.join(", "))]),
    ...(requestsPerMinute === null ? [] : [texts.aMinute(requestsPerMinute)]),
    ...(burst === null ? [] : [texts.atOnce(burst)]),
  ];
  return limits.length === 0 ? texts.noLimit : limits.join(", ");
};
