/** What one tab of the console tells the others of this browser. */
type Told = "signed in" | "signed out" | "proven";

const channelName = "presence";

/** Tells the other tabs. */
export const tellOtherTabs = (told: Told): void => {
  const channel = new BroadcastChannel(channelName);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- A channel has none.
  channel.postMessage(told);
  channel.close();
};

/** Hears what other tabs tell; answers how to hear no more. */
export const hearOtherTabs = (hear: (told: Told) => void): (() => void) => {
  const channel = new BroadcastChannel(channelName);
  channel.addEventListener("message", ({ data }: MessageEvent<Told>) => hear(data));
  return () => channel.close();
};
