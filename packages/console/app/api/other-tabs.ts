/** What one tab of the console tells the others of this browser. */
type TabMessage = "signed in" | "signed out" | "proven";

const channelName = "presence";

/** Tells the other tabs. */
export const notifyOtherTabs = (message: TabMessage): void => {
  const channel = new BroadcastChannel(channelName);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- A channel has none.
  channel.postMessage(message);
  channel.close();
};

/** Hears what other tabs tell; answers how to hear no more. */
export const subscribeToOtherTabs = (onMessage: (message: TabMessage) => void): (() => void) => {
  const channel = new BroadcastChannel(channelName);
  channel.addEventListener("message", ({ data }: MessageEvent<TabMessage>) => onMessage(data));
  return () => channel.close();
};
