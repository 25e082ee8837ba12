/** The token in a sign-in link, of which people paste the whole. */
export const extractToken = (link: string): string =>
  new URLSearchParams(link.slice(link.indexOf("#") + 1)).get("token") ?? link.trim();
