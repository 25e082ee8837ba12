import { useEffect, useRef } from "react";
import { useLocation } from "react-router";

const reloadedAtKey = "console reloaded at";
const reloadIntervalMsMin = 10_000;

const loadedVersion = document.querySelector<HTMLMetaElement>(
  "meta[name=console-version]",
)?.content;

/** Loads the page anew, but not again and again where that does not help. */
const reloadOnce = (): void => {
  const lastReloadAtMs = Number(sessionStorage.getItem(reloadedAtKey) ?? 0);
  if (Date.now() - lastReloadAtMs < reloadIntervalMsMin) return;
  sessionStorage.setItem(reloadedAtKey, String(Date.now()));
  location.reload();
};

/** After a deployment the files of an old page are gone: a view that cannot be fetched is that. */
export const reloadOnChunkLoadError = (): void => {
  addEventListener("vite:preloadError", (event) => {
    event.preventDefault();
    reloadOnce();
  });
};

/** A tab that is older than what is deployed reloads when the person goes to another view. */
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
    // Whoever is offline goes on with what they have.
    checkVersion().catch(() => undefined);
    return () => controller.abort();
  }, [pathname]);
};
