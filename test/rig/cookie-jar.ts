type StoredCookie = { name: string; value: string; path: string };

/**
 * Creates a cookie jar for one origin, as a browser has it (RFC 6265). The path of a request
 * determines which cookies are sent.
 */
export const createCookieJar = () => {
  let cookies: readonly StoredCookie[] = [];
  return {
    /** Stores the cookies from the `Set-Cookie` headers of a response. */
    store: (setCookieHeaders: readonly string[]): void => {
      for (const header of setCookieHeaders) {
        const [pair = "", ...attributes] = header.split(/; */);
        const [name = "", value = ""] = pair.split(/=(.*)/s);
        const path =
          attributes.find((attribute) => /^path=/i.test(attribute))?.slice("path=".length) ?? "/";
        cookies = cookies.filter((cookie) => cookie.name !== name || cookie.path !== path);
        if (!attributes.some((attribute) => /^max-age=0$/i.test(attribute))) {
          cookies = [...cookies, { name, value, path }];
        }
      }
    },
    /** Returns the `Cookie` header of a request for a path. */
    getCookieHeader: (requestPath: string): string =>
      cookies
        .filter(({ path }) => isPathMatch(requestPath, path))
        .map(({ name, value }) => `${name}=${value}`)
        .join("; "),
  };
};

/** RFC 6265, section 5.1.4. */
const isPathMatch = (requestPath: string, path: string): boolean =>
  requestPath === path || requestPath.startsWith(path.endsWith("/") ? path : `${path}/`);
