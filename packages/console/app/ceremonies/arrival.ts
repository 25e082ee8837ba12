import { tellOtherTabs } from "../api/other-tabs.ts";

/** What the address brought along when the page was opened. */
export type Arrival = {
  /** Of a one-time sign-in link. */
  token: string | undefined;
  /** The code with which a sign-in came back from the identity provider. */
  error: string | undefined;
  /** Whether this tab proved presence at the identity provider, for another one. */
  isProof: boolean;
};

/** Takes what the address brought. It leaves the address bar and the history first of all. */
export const takeArrival = (): Arrival => {
  const query = new URLSearchParams(location.search);
  const token = new URLSearchParams(location.hash.slice(1)).get("token") ?? undefined;
  const error = query.get("error") ?? undefined;
  const isProof = query.get("presence") === "proven";
  if (token !== undefined || error !== undefined || isProof) {
    history.replaceState(null, "", "/console");
  }
  if (isProof) tellOtherTabs("proven");
  return { token, error, isProof };
};
