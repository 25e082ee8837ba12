import { type LookupFunction, isIP } from "node:net";
import { callbackify } from "node:util";
import { buildConnector } from "undici";
import { isPublicAddress } from "./public-address.ts";
import { BlockedAddressError, resolvePublic } from "./resolve-public.ts";
import type { Resolve } from "./resolver.ts";

/**
 * Of several addresses each but the last has this part of the time in which to answer. Node's own 250 ms
 * are less than a host far away needs, or one lost packet, and it never goes back to the first.
 */
const timeoutRatioPerAddress = 1 / 4;

/**
 * Makes the connector that opens every socket to a stranger: it resolves once, vets all addresses, and
 * hands exactly these to the socket, so that the address checked is the address connected to.
 */
export const createGuardedConnector = (
  resolve: Resolve,
  { connectTimeoutMs }: { connectTimeoutMs: number },
): buildConnector.connector => {
  const connect = buildConnector({
    timeout: connectTimeoutMs,
    autoSelectFamilyAttemptTimeout: connectTimeoutMs * timeoutRatioPerAddress,
    allowH2: false,
    lookup: createGuardedLookup(resolve),
  });
  return (options, callback) => {
    // Node makes no look-up for a literal, so it is judged here.
    if (isIP(options.hostname) !== 0 && !isPublicAddress(options.hostname)) {
      callback(new BlockedAddressError(), null);
      return;
    }
    connect(options, (...[error, socket]) => {
      if (error !== null) return callback(error, null);
      // A second check: nothing of a request has been written to the socket yet.
      if (isPublicAddress(socket.remoteAddress ?? "")) return callback(null, socket);
      socket.destroy();
      return callback(new BlockedAddressError(), null);
    });
  };
};

/**
 * The look-up that a socket makes: every address is vetted before one is handed over. Node asks for one
 * address or, when it may try several families, for all of them.
 */
export const createGuardedLookup = (resolve: Resolve): LookupFunction => {
  const lookUpPublic = callbackify((hostName: string) => resolvePublic(resolve, hostName));
  return (hostName, options, callback) =>
    lookUpPublic(hostName, (error, addresses) => {
      if (error !== null) callback(error, []);
      else if (options.all === true) callback(null, [...addresses]);
      else callback(null, addresses[0].address, addresses[0].family);
    });
};
