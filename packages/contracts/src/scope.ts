/** The scopes of an API key (rules API-2 and API-4). */
export const scopes = ["payment_link:create", "payment_link:read"] as const;
export type Scope = (typeof scopes)[number];
