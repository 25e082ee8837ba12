// How a page hears of its link: by server-sent events, and by asking again and again where there are
// none. It knows nothing of what it hears, and shows nothing.

const askMs = 4_000;
/** Streams that were refused are not asked for again before, each page at a time of its own. */
const refusedMs = { least: 20_000, most: 40_000 };

/**
 * Follows a link for as long as the page is seen. `addressOf` answers where its events are by now, `ask`
 * how it stands; `hear` is told that, and `setOffline` whether it can be heard at all. Answers how to
 * have another look at once.
 */
export const follow = ({ addressOf, ask, hear, setOffline }) => {
  let source;
  let opensAt = 0;
  let isAsking = false;

  const isOpen = () => source?.readyState === EventSource.OPEN;

  const close = () => {
    source?.close();
    source = undefined;
  };

  const open = () => {
    const opened = new EventSource(addressOf());
    source = opened;
    opened.addEventListener("open", () => setOffline(false));
    opened.addEventListener("state", ({ data }) => {
      if (source === opened) hear(JSON.parse(data));
    });
    opened.addEventListener("error", () => {
      // Any answer but 200 ends it for ever; after anything else it comes again by itself.
      if (opened.readyState !== EventSource.CLOSED || source !== opened) return;
      close();
      const { least, most } = refusedMs;
      opensAt = Date.now() + least + Math.random() * (most - least);
      void askOnce();
    });
  };

  const askOnce = async () => {
    if (isAsking) return;
    isAsking = true;
    try {
      const state = await ask();
      // What a stream has told meanwhile may be newer.
      if (!isOpen()) hear(state);
      setOffline(false);
    } catch {
      if (!isOpen()) setOffline(true);
    }
    isAsking = false;
  };

  /** Six streams of one origin would keep the next page of it from loading: only what is seen has one. */
  const look = () => {
    if (document.hidden) return close();
    if (source !== undefined && source.url !== new URL(addressOf(), location.href).href) close();
    if (source !== undefined || Date.now() < opensAt) return;
    open();
  };

  const lookAnew = () => {
    opensAt = 0;
    close();
    look();
  };

  document.addEventListener("visibilitychange", look);
  window.addEventListener("online", lookAnew);
  window.addEventListener("offline", () => {
    close();
    setOffline(true);
  });
  setInterval(() => {
    look();
    if (!document.hidden && !isOpen()) void askOnce();
  }, askMs);
  look();
  return look;
};
