/** A sign-in link is good for so long (rule CALLER-10). */
export const signInLinkLifetimeMs = 15 * 60 * 1000;

/** The address that signs its bearer in. The token is in the fragment, which no server log sees. */
export const getSignInUrl = (baseUrl: string, token: string): string =>
  `${baseUrl}/console/sign-in#token=${token}`;
