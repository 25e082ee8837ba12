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

/**
 * Reloads the page when a view cannot be loaded, because a deployment removes the files of older
 * pages.
 */
export const reloadOnChunkLoadError = (): void => {
  addEventListener("vite:preloadError", (event) => {
    event.preventDefault();
    reloadOnce();
  });
};

/** Reloads an outdated tab when the user navigates to another view. */
export const useReloadWhenOutdated = (): void => {
  const { pathname } = useLocation();
  const lastPathname = useRef("");
  useEffect(() => {
    if (lastPathname.current === pathname) return undefined;
    lastPathname.current = pathname;
    const controller = new AbortController();
    const checkVersion = async (): Promise<void> => {
      const response = await fetch("/console/version", { signal: controller.signal });
      if (response.ok && (await response.text()) !== loadedVersion) reloadOnce();
    };
    // An offline user can continue with the current page.
    checkVersion().catch(() => undefined);
    return () => controller.abort();
  }, [pathname]);
};
