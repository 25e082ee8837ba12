import { useEffect, useRef } from "react";
import { useLocation } from "react-router";

const reloadedAtKey = "console reloaded at";
const reloadIntervalMsMin = 10_000;

const loadedVersion = document.querySelector<HTMLMetaElement>(
  "meta[name=console-version]",
)?.content;

/** Reloads the page, but not repeatedly if the reload does not help. */
const reloadOnce = (): void => {
  const lastReloadAtMs = Number(sessionStorage.getItem(reloadedAtKey) ?? 0);
  if (Date.now() - lastReloadAtMs < reloadIntervalMsMin) return;
  sessionStorage.setItem(reloadedAtKey, String(Date.now()));
  location.reload();
};

const fetchVersion = (signal: AbortSignal | null = null): Promise<string | undefined> =>
  fetch("/console/version", { signal }).then(
    (response) => (response.ok ? response.text() : undefined),
    // An offline user can continue with the current page.
    () => undefined,
  );

/**
 * Reloads the page when a view cannot be loaded, because a deployment removes the files of older
 * pages. If the service cannot be reached, the page stays, because the browser's error page would
 * replace it.
 */
export const reloadOnChunkLoadError = (): void => {
  addEventListener("vite:preloadError", () => {
    void fetchVersion().then((version) => {
      if (version !== undefined) reloadOnce();
    });
  });
};

/** Reloads the page if the service can be reached. */
export const reloadIfReachable = async (): Promise<void> => {
  if ((await fetchVersion()) !== undefined) location.reload();
};

/** Reloads an outdated tab when the user navigates to another view. */
export const useReloadWhenOutdated = (): void => {
  const { pathname } = useLocation();
  const lastPathname = useRef("");
  useEffect(() => {
    if (lastPathname.current === pathname) return undefined;
    lastPathname.current = pathname;
    const controller = new AbortController();
    void fetchVersion(controller.signal).then((version) => {
      if (version !== undefined && version !== loadedVersion) reloadOnce();
    });
    return () => controller.abort();
  }, [pathname]);
};
