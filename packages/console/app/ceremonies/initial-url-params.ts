import { notifyOtherTabs } from "../api/other-tabs.ts";

/** The parameters that the URL had when the page was opened. */
export type InitialUrlParams = {
  /** The token of a one-time sign-in link. */
  token: string | undefined;
  /** The error code of a sign-in that failed at the identity provider. */
  error: string | undefined;
  /** Whether this tab proved presence at the identity provider on behalf of another tab. */
  isPresenceProof: boolean;
};

/** Reads the parameters and removes them from the address bar and the history. */
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
