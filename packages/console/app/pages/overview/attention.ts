import type {
  ApiKeyData,
  DepositPage,
  Overview,
  WebhookEndpointData,
} from "../../api/operations.ts";

/** Keys are announced two weeks before they expire. */
const expiringWithinMs = 14 * 86_400_000;

/** Something that the owner should look at. */
export type AttentionItem =
  | { kind: "unapplied"; unapplied: Overview["unapplied"] }
  | { kind: "deposits"; count: number; hasMore: boolean }
  | { kind: "endpoint"; id: string; name: string; failureCount: number }
  | { kind: "key"; id: string; name: string; expiresAt: string }
  | { kind: "passkey" };

/** What is known so far. A list that could not be loaded is missing. */
type Sources = {
  unapplied?: Overview["unapplied"] | undefined;
  deposits?: Pick<DepositPage, "data" | "nextOffset"> | undefined;
  endpoints?: readonly WebhookEndpointData[] | undefined;
  keys?: readonly ApiKeyData[] | undefined;
  isPasskeyMissing?: boolean;
  now: number;
};

/** Lists what needs attention, money first. */
export const listAttention = ({
  unapplied,
  deposits,
  endpoints = [],
  keys = [],
  isPasskeyMissing = false,
  now,
}: Sources): AttentionItem[] => [
  ...(unapplied === undefined || unapplied.count === 0
    ? []
    : [{ kind: "unapplied" as const, unapplied }]),
  ...(deposits === undefined || deposits.data.length === 0
    ? []
    : [
        {
          kind: "deposits" as const,
          count: deposits.data.length,
          hasMore: deposits.nextOffset !== null,
        },
      ]),
  ...endpoints
    .filter(({ enabled, consecutiveFailures }) => enabled && consecutiveFailures > 0)
    .map(({ id, name, consecutiveFailures }) => ({
      kind: "endpoint" as const,
      id,
      name,
      failureCount: consecutiveFailures,
    })),
  ...keys.flatMap(({ id, name, active, expiresAt }) =>
    active && expiresAt !== null && isExpiring(expiresAt, now)
      ? [{ kind: "key" as const, id, name, expiresAt }]
      : [],
  ),
  ...(isPasskeyMissing ? [{ kind: "passkey" as const }] : []),
];

const isExpiring = (expiresAt: string, now: number): boolean => {
  const remainingMs = Date.parse(expiresAt) - now;
  return remainingMs > 0 && remainingMs <= expiringWithinMs;
};
