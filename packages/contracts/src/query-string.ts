/**
 * Writes the query of a payment URI (RFC 3986). People's text is percent-encoded in UTF-8 and never
 * with `+`, which wallets show as it is; half a surrogate pair becomes U+FFFD. What is undefined is
 * left out, and so is an empty text.
 */
export const buildQueryString = (
  fields: readonly (readonly [string, string | undefined])[],
): string => {
  const parts = fields.flatMap(([name, value]) =>
    value === undefined || value === ""
      ? []
      : [`${name}=${encodeURIComponent(value.toWellFormed())}`],
  );
  return parts.length === 0 ? "" : `?${parts.join("&")}`;
};
