/** Returns the token of a sign-in link. Users may paste the whole link or only the token. */
export const extractToken = (link: string): string =>
  new URLSearchParams(link.slice(link.indexOf("#") + 1)).get("token") ?? link.trim();
