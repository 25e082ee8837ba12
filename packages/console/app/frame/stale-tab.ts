import { useEffect, useRef } from "react";
import { useLocation } from "react-router";

const reloadKey = "console reloaded at";
const reloadMsMin = 10_000;

const ownVersion = document.querySelector<HTMLMetaElement>("meta[name=console-version]")?.content;

/** Loads the page anew, but not again and again where that does not help. */
const reload = (): void => {
  const last = Number(sessionStorage.getItem(reloadKey) ?? 0);
  if (Date.now() - last < reloadMsMin) return;
  sessionStorage.setItem(reloadKey, String(Date.now()));
  location.reload();
};

/** After a deployment the files of an old page are gone: a view that cannot be fetched is that. */
export const reloadOnLostChunk = (): void => {
  addEventListener("vite:preloadError", (event) => {
    event.preventDefault();
    reload();
  });
};

/** A tab that is older than what is deployed reloads when the person goes to another view. */
export const useFreshTab = (): void => {
  const { pathname } = useLocation();
  const seen = useRef("");
  useEffect(() => {
    if (seen.current === pathname) return undefined;
    seen.current = pathname;
    const controller = new AbortController();
    const compare = async (): Promise<void> => {
      const answer = await fetch("/console/version", { signal: controller.signal });
      if (answer.ok && (await answer.text()) !== ownVersion) reload();
    };
    // Whoever is offline goes on with what they have.
    compare().catch(() => undefined);
    return () => controller.abort();
  }, [pathname]);
};
