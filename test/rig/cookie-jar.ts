type Kept = { name: string; value: string; path: string };

/**
 * The cookies of one origin as a browser keeps them (RFC 6265): which ones a request carries depends
 * on its path.
 */
export const openCookieJar = () => {
  let kept: readonly Kept[] = [];
  return {
    /** Stores what the `Set-Cookie` lines of an answer set. */
    keep: (lines: readonly string[]): void => {
      for (const line of lines) {
        const [pair = "", ...attributes] = line.split(/; */);
        const [name = "", value = ""] = pair.split(/=(.*)/s);
        const path = attributes.find((text) => /^path=/i.test(text))?.slice("path=".length) ?? "/";
        kept = kept.filter((other) => other.name !== name || other.path !== path);
        if (!attributes.some((text) => /^max-age=0$/i.test(text))) {
          kept = [...kept, { name, value, path }];
        }
      }
    },
    /** The `Cookie` header of a request on a path. */
    headerFor: (requestPath: string): string =>
      kept
        .filter(({ path }) => isWithin(requestPath, path))
        .map(({ name, value }) => `${name}=${value}`)
        .join("; "),
  };
};

/** RFC 6265, section 5.1.4. */
const isWithin = (requestPath: string, path: string): boolean =>
  requestPath === path || requestPath.startsWith(path.endsWith("/") ? path : `${path}/`);
