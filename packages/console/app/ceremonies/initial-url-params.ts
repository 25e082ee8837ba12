import { notifyOtherTabs } from "../api/other-tabs.ts";

/** What the address brought along when the page was opened. */
export type InitialUrlParams = {
  /** Of a one-time sign-in link. */
  token: string | undefined;
  /** The code with which a sign-in came back from the identity provider. */
  error: string | undefined;
  /** Whether this tab proved presence at the identity provider, for another one. */
  isPresenceProof: boolean;
};

/** Takes what the address brought. It leaves the address bar and the history first of all. */
export const consumeInitialUrlParams = (): InitialUrlParams => {
  const query = new URLSearchParams(location.search);
  const token = new URLSearchParams(location.hash.slice(1)).get("token") ?? undefined;
  const error = query.get("error") ?? undefined;
  const isPresenceProof = query.get("presence") === "proven";
  if (token !== undefined || error !== undefined || isPresenceProof) {
    history.replaceState(null, "", "/console");
  }
  if (isPresenceProof) notifyOtherTabs("proven");
  return { token, error, isPresenceProof };
};
