/** What an API key may do (spec §5). */
export const scopes = ["payment_link:create", "payment_link:read"] as const;
export type Scope = (typeof scopes)[number];
