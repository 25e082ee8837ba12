const redirectsMax = 20;

/** Where a browser is now: a page, or an address before which it was told to stop. */
type Visit = { url: URL; status: number | undefined; text: string };

type VisitOptions = {
  /** Stops before the first address for which this is true, and does not fetch it. */
  stopBefore?: (url: URL) => boolean;
};

/**
 * As much of a browser as signing in needs: a cookie jar per origin, and redirects followed one by
 * one. Another address serves one origin, as with an ingress.
 */
export const createBrowser = ({ origin, servedBy }: { origin: string; servedBy: string }) => {
  const jars = new Map<string, Map<string, string>>();
  const getJar = (url: URL): Map<string, string> => {
    const jar = jars.get(url.origin) ?? new Map<string, string>();
    jars.set(url.origin, jar);
    return jar;
  };
  const formatCookies = (url: URL): string =>
    [...getJar(url)].map(([name, value]) => `${name}=${value}`).join("; ");
  const storeCookies = (url: URL, headers: Headers): void => {
    for (const line of headers.getSetCookie()) {
      const [pair = "", ...attributes] = line.split(";");
      const [name = "", value = ""] = pair.split(/=(.*)/s);
      const isExpired = attributes.some((text) => /max-age=0|expires=thu, 01 jan 1970/i.test(text));
      if (isExpired) getJar(url).delete(name);
      else getJar(url).set(name, value);
    }
  };

  const visit = async (target: string, { stopBefore }: VisitOptions = {}): Promise<Visit> => {
    let url = new URL(target, origin);
    for (let count = 0; count < redirectsMax; count += 1) {
      if (stopBefore?.(url) === true) return { url, status: undefined, text: "" };
      const requestUrl = url.origin === origin ? new URL(url.pathname + url.search, servedBy) : url;
      const response = await fetch(requestUrl, {
        redirect: "manual",
        headers: { cookie: formatCookies(url), accept: "text/html,*/*" },
      });
      storeCookies(url, response.headers);
      const location = response.headers.get("location");
      const text = await response.text();
      if (location === null) return { url, status: response.status, text };
      url = new URL(location, url);
    }
    throw new Error("the browser was sent round in circles");
  };

  return {
    visit,
    /** The cookies that the browser would send to the origin, as a header. */
    cookies: (): string => formatCookies(new URL(origin)),
    /** Drops the cookies of another site, as if another person sat there. */
    deleteCookies: (otherOrigin: string): void => void jars.delete(otherOrigin),
    /** Takes a cookie away, or puts one in its place. */
    setCookie: (name: string, value: string | undefined): void => {
      const jar = getJar(new URL(origin));
      if (value === undefined) jar.delete(name);
      else jar.set(name, value);
    },
  };
};
export type Browser = ReturnType<typeof createBrowser>;
