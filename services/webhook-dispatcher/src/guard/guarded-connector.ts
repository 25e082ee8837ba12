import { type LookupFunction, isIP } from "node:net";
import { callbackify } from "node:util";
import { buildConnector } from "undici";
import { isPublicAddress } from "./public-address.ts";
import { BlockedAddressError, resolvePublic } from "./resolve-public.ts";
import type { Resolve } from "./resolver.ts";

/**
 * The part of the timeout for each address except the last one. Node's default of 250 ms is too
 * short for a distant host or a lost packet, and Node does not try an address twice.
 */
const timeoutRatioPerAddress = 1 / 4;

/**
 * Creates the connector that opens every socket to an external host. It resolves the host once,
 * checks all addresses, and passes exactly these to the socket, so that the socket connects to a
 * checked address.
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
    // Node does not look up IP literals, so they are checked here.
    if (isIP(options.hostname) !== 0 && !isPublicAddress(options.hostname)) {
      callback(new BlockedAddressError(), null);
      return;
    }
    connect(options, (...[error, socket]) => {
      if (error !== null) return callback(error, null);
      // Checks the connected address too. Nothing of the request has been written to the socket
      // yet.
      if (isPublicAddress(socket.remoteAddress ?? "")) return callback(null, socket);
      socket.destroy();
      return callback(new BlockedAddressError(), null);
    });
  };
};

/**
 * Creates the lookup function of a socket. Checks every address before it returns any of them. Node
 * asks for one address or, if it can try several address families, for all addresses.
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
