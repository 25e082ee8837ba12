import { type AskSolana, SolanaFacts } from "@payment-links/contracts";
import { activeTraceparent } from "@payment-links/runtime";

type Options = {
  /** The internal address of settlement-listener, without a trailing slash. */
  url: string;
  /** What `/internal/…` requires as a bearer. */
  token?: string | undefined;
  timeoutMs?: number;
};

/** Under what a caller of ours waits for an answer. */
const timeoutMsDefault = 4_000;

/** Asks settlement-listener over HTTP what a payer's transaction on Solana is made of. */
export const createHttpAskSolana = ({
  url,
  token,
  timeoutMs = timeoutMsDefault,
}: Options): AskSolana => {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return async (question) => {
    const traceparent = activeTraceparent();
    const answer = await fetch(`${url}/internal/settlement/solana-facts`, {
      method: "POST",
      signal: AbortSignal.timeout(timeoutMs),
      headers: {
        "content-type": "application/json",
        ...authorization,
        ...(traceparent === undefined ? {} : { traceparent }),
      },
      body: JSON.stringify(question),
    });
    if (!answer.ok) {
      await answer.body?.cancel();
      throw new Error(`settlement-listener answered with status ${answer.status}`);
    }
    if (answer.status === 204) return undefined;
    return SolanaFacts.parse(await answer.json());
  };
};
