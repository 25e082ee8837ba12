// Follows a link's state by server-sent events, and polls while no event stream is open. It does
// not interpret or render the state.

const pollMs = 4_000;
/**
 * A rejected stream is retried after a random delay in this range, so that pages do not all retry
 * together.
 */
const rejectedStreamDelayMs = { min: 20_000, max: 40_000 };

/**
 * Follows a link while the page is visible. `getEventsUrl` returns the current URL of its events,
 * `fetchState` fetches its state, `onState` receives each state, and `setOffline` receives whether
 * the state is unavailable. Returns a function that immediately opens, closes or replaces the event
 * stream as needed.
 */
export const followLink = ({ getEventsUrl, fetchState, onState, setOffline }) => {
  let activeSource;
  let retryAt = 0;
  let isFetching = false;

  const isStreamOpen = () => activeSource?.readyState === EventSource.OPEN;

  const closeStream = () => {
    activeSource?.close();
    activeSource = undefined;
  };

  const openStream = () => {
    const source = new EventSource(getEventsUrl());
    activeSource = source;
    source.addEventListener("open", () => setOffline(false));
    source.addEventListener("state", ({ data }) => {
      if (activeSource === source) onState(JSON.parse(data));
    });
    source.addEventListener("error", () => {
      // EventSource closes for good on any status but 200. After other errors it reconnects by itself.
      if (source.readyState !== EventSource.CLOSED || activeSource !== source) return;
      closeStream();
      const { min, max } = rejectedStreamDelayMs;
      retryAt = Date.now() + min + Math.random() * (max - min);
      void poll();
    });
  };

  const poll = async () => {
    if (isFetching) return;
    isFetching = true;
    try {
      const state = await fetchState();
      // A stream that opened during the request may have delivered a newer state.
      if (!isStreamOpen()) onState(state);
      setOffline(false);
    } catch {
      if (!isStreamOpen()) setOffline(true);
    }
    isFetching = false;
  };

  /**
   * Keeps a stream open only while the page is visible. Browsers allow six HTTP/1.1 connections per
   * origin, so streams of hidden tabs could keep the next page from loading.
   */
  const updateConnection = () => {
    if (document.hidden) return closeStream();
    if (
      activeSource !== undefined &&
      activeSource.url !== new URL(getEventsUrl(), location.href).href
    ) {
      closeStream();
    }
    if (activeSource !== undefined || Date.now() < retryAt) return;
    openStream();
  };

  const reconnect = () => {
    retryAt = 0;
    closeStream();
    updateConnection();
  };

  document.addEventListener("visibilitychange", updateConnection);
  window.addEventListener("online", reconnect);
  window.addEventListener("offline", () => {
    closeStream();
    setOffline(true);
  });
  setInterval(() => {
    updateConnection();
    if (!document.hidden && !isStreamOpen()) void poll();
  }, pollMs);
  updateConnection();
  return updateConnection;
};
