const redirectsMax = 20;

/** The browser's location: a loaded page, or the URL at which it stopped. */
type Visit = { url: URL; status: number | undefined; text: string };

type VisitOptions = {
  /** Stops before the first URL for which this returns true, without fetching it. */
  stopBefore?: (url: URL) => boolean;
};

/**
 * Creates a minimal browser for sign-ins: a cookie jar per origin, and redirects followed one at a
 * time. Requests to `origin` go to `servedBy`, as through an ingress.
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
    throw new Error("the browser was redirected in a loop");
  };

  return {
    visit,
    /** Returns the `Cookie` header that the browser would send to the origin. */
    cookies: (): string => formatCookies(new URL(origin)),
    /** Deletes the cookies of another origin, as if another user used the browser. */
    deleteCookies: (otherOrigin: string): void => void jars.delete(otherOrigin),
    /** Sets a cookie, or deletes it if the value is undefined. */
    setCookie: (name: string, value: string | undefined): void => {
      const jar = getJar(new URL(origin));
      if (value === undefined) jar.delete(name);
      else jar.set(name, value);
    },
  };
};
export type Browser = ReturnType<typeof createBrowser>;
