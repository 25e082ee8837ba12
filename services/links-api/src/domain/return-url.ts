/**
 * Returns the URL at which a payer returns from a link to its seller, or null if the seller has not
 * set one. The query's existing parameters and the fragment stay as they are. Profiles are
 * untrusted, and a URL with another scheme could run a script.
 */
export const buildReturnUrl = (returnUrl: string | null, linkId: string): string | null => {
  if (returnUrl === null || !URL.canParse(returnUrl)) return null;
  const url = new URL(returnUrl);
  if (url.protocol !== "https:") return null;
  const parameter = `payment_link=${encodeURIComponent(linkId)}`;
  url.search = url.search === "" ? parameter : `${url.search}&${parameter}`;
  return url.href;
};
