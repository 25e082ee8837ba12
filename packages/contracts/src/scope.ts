/** What an API key may do (rules API-2, API-4). */
export const scopes = ["payment_link:create", "payment_link:read"] as const;
export type Scope = (typeof scopes)[number];
