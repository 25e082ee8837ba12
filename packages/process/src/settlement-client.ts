import type * as z from "zod";
import {
  type FetchSolanaAccountState,
  type FetchUsedAddresses,
  SolanaAccountState,
  UsedAddresses,
} from "@payment-links/contracts";
import { type InternalClientOptions, postInternal } from "./post-internal.ts";

/** Shorter than the time that this service's callers wait for a response. */
const timeoutMsDefault = 4_000;

/** Creates a client that fetches the account state for a payer's Solana transaction. */
export const createSolanaAccountStateClient = (
  options: InternalClientOptions,
): FetchSolanaAccountState => createSettlementClient(options, "solana-facts", SolanaAccountState);

/** Creates a client that fetches which Bitcoin addresses have been used. */
export const createUsedAddressesClient = (options: InternalClientOptions): FetchUsedAddresses => {
  const fetchUsedAddresses = createSettlementClient(options, "used-addresses", UsedAddresses);
  return async (request) => {
    const usedAddresses = await fetchUsedAddresses(request);
    if (usedAddresses === undefined)
      throw new Error("settlement-listener does not watch the chain");
    return usedAddresses;
  };
};

const createSettlementClient = <Schema extends z.ZodType>(
  { url, token, timeoutMs = timeoutMsDefault }: InternalClientOptions,
  endpoint: string,
  responseSchema: Schema,
): ((request: object) => Promise<z.output<Schema> | undefined>) => {
  const endpointUrl = `${url}/internal/settlement/${endpoint}`;
  return async (body) => {
    const call = { service: "settlement-listener", url: endpointUrl, token, timeoutMs, body };
    const response = await postInternal(call);
    if (response.status === 204) return undefined;
    return responseSchema.parse(await response.json());
  };
};
