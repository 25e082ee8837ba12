/** How long a sign-in link is valid (rule CALLER-10). */
export const signInLinkLifetimeMs = 15 * 60 * 1000;

/**
 * Returns the sign-in URL for a token. The token is in the fragment, which browsers do not send, so
 * server logs never contain it.
 */
export const getSignInUrl = (baseUrl: string, token: string): string =>
  `${baseUrl}/console/sign-in#token=${token}`;
