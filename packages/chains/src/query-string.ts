/**
 * Builds the query of a payment URI (RFC 3986). User text is percent-encoded as UTF-8 and never
 * uses `+`, because wallets show it literally. An unpaired surrogate becomes U+FFFD. Undefined and
 * empty values are omitted.
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
