/** A message from one console tab to the others in this browser. */
type TabMessage = "signed in" | "signed out" | "proven";

const channelName = "presence";

export const notifyOtherTabs = (message: TabMessage): void => {
  const channel = new BroadcastChannel(channelName);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- channels have no target
  channel.postMessage(message);
  channel.close();
};

/** Subscribes to messages from other tabs. Returns the function that unsubscribes. */
export const subscribeToOtherTabs = (onMessage: (message: TabMessage) => void): (() => void) => {
  const channel = new BroadcastChannel(channelName);
  channel.addEventListener("message", ({ data }: MessageEvent<TabMessage>) => onMessage(data));
  return () => channel.close();
};
