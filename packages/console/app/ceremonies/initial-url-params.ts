import { notifyOtherTabs } from "../api/other-tabs.ts";
import { basePath } from "../mode.ts";

/** The parameters that the URL had when the page was opened. */
export type InitialUrlParams = {
  /** The token of a one-time sign-in link. */
  token: string | undefined;
  /** The error code of a sign-in that failed at the identity provider. */
  error: string | undefined;
  /** Whether this tab proved presence at the identity provider on behalf of another tab. */
  isPresenceProof: boolean;
};

const readToken = (): string | undefined =>
  new URLSearchParams(location.hash.slice(1)).get("token") ?? undefined;

/** Reads the parameters and removes them from the address bar and the history. */
export const consumeInitialUrlParams = (): InitialUrlParams => {
  const query = new URLSearchParams(location.search);
  const token = readToken();
  const error = query.get("error") ?? undefined;
  const isPresenceProof = query.get("presence") === "proven";
  if (token !== undefined || error !== undefined || isPresenceProof) {
    history.replaceState(null, "", basePath);
  }
  if (isPresenceProof) notifyOtherTabs("proven");
  return { token, error, isPresenceProof };
};

/**
 * Opens a sign-in link that the user pastes into a tab with the console. Browsers do not load the
 * page again if only the part after # changes.
 */
export const reloadOnSignInLink = (): void => {
  addEventListener("hashchange", () => {
    if (readToken() !== undefined) location.reload();
  });
};
