type NamedPattern = readonly [pattern: RegExp, name: string];

/** Most browsers also claim to be the ones that follow them here. */
const browsers: readonly NamedPattern[] = [
  [/\bEdg(?:e|A|iOS)?\//, "Edge"],
  [/\b(?:OPR|OPX|OPiOS)\//, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\b(?:Firefox|FxiOS)\//, "Firefox"],
  [/(?:Chrome|\bCriOS)\//, "Chrome"],
  [/\bVersion\/\S+.* Safari\//, "Safari"],
];

/** Android also claims to be Linux, and iOS to be macOS. */
const systems: readonly NamedPattern[] = [
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bAndroid\b/, "Android"],
  [/\bWindows\b/, "Windows"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bMacintosh\b/, "macOS"],
  [/\bLinux\b/, "Linux"],
];

/**
 * Returns the browser and operating system of a user agent, such as `Chrome on macOS`. Contains only
 * the names above, and no other part of the user agent. Returns null if neither is known.
 */
export const describeDevice = (userAgent: string | null): string | null => {
  if (userAgent === null) return null;
  const names = [browsers, systems].flatMap((patterns) => findName(patterns, userAgent));
  return names.length === 0 ? null : names.join(" on ");
};

const findName = (patterns: readonly NamedPattern[], userAgent: string): string[] =>
  patterns
    .filter(([pattern]) => pattern.test(userAgent))
    .slice(0, 1)
    .map(([, name]) => name);
