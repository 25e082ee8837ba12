import type * as z from "zod";
import {
  type AskSolana,
  type AskUsedAddresses,
  SolanaFacts,
  UsedAddresses,
} from "@payment-links/contracts";
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
export const createHttpAskSolana = (options: Options): AskSolana =>
  createAsk(options, "solana-facts", SolanaFacts);

/** Asks settlement-listener over HTTP which addresses of Bitcoin were used. */
export const createHttpAskUsedAddresses = (options: Options): AskUsedAddresses => {
  const ask = createAsk(options, "used-addresses", UsedAddresses);
  return async (question) => {
    const answer = await ask(question);
    if (answer === undefined) throw new Error("settlement-listener does not watch the chain");
    return answer;
  };
};

const createAsk = <Answer extends z.ZodType>(
  { url, token, timeoutMs = timeoutMsDefault }: Options,
  name: string,
  Shape: Answer,
): ((question: object) => Promise<z.output<Answer> | undefined>) => {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return async (question) => {
    const traceparent = activeTraceparent();
    const answer = await fetch(`${url}/internal/settlement/${name}`, {
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
    return Shape.parse(await answer.json());
  };
};
