// Follows a link's state with server-sent events, and polls while no event stream is open. This
// module does not interpret or render the state.

const pollMs = 4_000;
/**
 * If a stream is rejected, the page retries after a random delay in this range, so that pages do
 * not all retry at the same time.
 */
const rejectedStreamDelayMs = { min: 20_000, max: 40_000 };

/**
 * Follows a link while the page is visible. `getEventsUrl` returns the current URL of the link's
 * events. `fetchState` fetches the state. `onState` is called with each state. `setOffline` is
 * called with whether the state is unavailable. Returns a function that opens, closes or replaces
 * the event stream immediately, depending on what is needed.
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
      // EventSource closes permanently if the status is not 200. After other errors it reconnects
      // on its own.
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
   * Opens the stream while the page is visible and closes it otherwise. Browsers allow six HTTP/1.1
   * connections per origin, so streams of hidden tabs could prevent the next page from loading.
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
