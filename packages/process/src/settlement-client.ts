import type * as z from "zod";
import {
  type FetchSolanaAccountState,
  type FetchUsedAddresses,
  SolanaAccountState,
  UsedAddresses,
} from "@payment-links/contracts";
import { getActiveTraceparent } from "@payment-links/runtime";

type SettlementClientOptions = {
  /** The base URL of settlement-listener's internal listener, without a trailing slash. */
  url: string;
  /** The bearer token that `/internal/…` requires. */
  token?: string | undefined;
  timeoutMs?: number;
};

/** Shorter than the time that this service's callers wait for a response. */
const timeoutMsDefault = 4_000;

/** Creates a client that fetches the account state for a payer's Solana transaction. */
export const createSolanaAccountStateClient = (
  options: SettlementClientOptions,
): FetchSolanaAccountState => createSettlementClient(options, "solana-facts", SolanaAccountState);

/** Creates a client that fetches which Bitcoin addresses have been used. */
export const createUsedAddressesClient = (options: SettlementClientOptions): FetchUsedAddresses => {
  const fetchUsedAddresses = createSettlementClient(options, "used-addresses", UsedAddresses);
  return async (request) => {
    const usedAddresses = await fetchUsedAddresses(request);
    if (usedAddresses === undefined)
      throw new Error("settlement-listener does not watch the chain");
    return usedAddresses;
  };
};

const createSettlementClient = <Schema extends z.ZodType>(
  { url, token, timeoutMs = timeoutMsDefault }: SettlementClientOptions,
  endpoint: string,
  responseSchema: Schema,
): ((request: object) => Promise<z.output<Schema> | undefined>) => {
  const authorizationHeader = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return async (request) => {
    const traceparent = getActiveTraceparent();
    const response = await fetch(`${url}/internal/settlement/${endpoint}`, {
      method: "POST",
      signal: AbortSignal.timeout(timeoutMs),
      headers: {
        "content-type": "application/json",
        ...authorizationHeader,
        ...(traceparent === undefined ? {} : { traceparent }),
      },
      body: JSON.stringify(request),
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw new Error(`settlement-listener responded with status ${response.status}`);
    }
    if (response.status === 204) return undefined;
    return responseSchema.parse(await response.json());
  };
};
