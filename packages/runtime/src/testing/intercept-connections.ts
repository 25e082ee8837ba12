import process from "node:process";
import { injectDelay } from "./inject-delay.ts";

type Connect = (this: object, request: unknown, address: string, port: number) => number;
type GetPeerName = (this: object, peerName: { address?: string }) => number;
type TcpPrototype = { connect: Connect; connect6: Connect; getpeername: GetPeerName };

/** libuv's error for a closed port (ECONNREFUSED). */
const connectionRefusedErrno = -111;

const loopback = "127.0.0.1";

/**
 * Intercepts connections between Node and the operating system and records every dialed address.
 * The real addresses are never dialed. Each attempt is refused or, with `redirectPort`, goes to the
 * server on that loopback port. The socket then reports the dialed address as its peer, unless
 * `isPeerAddressSpoofed` is false. `connectDelayMs` delays the connection as if the host were
 * distant. The tested code cannot bypass this layer, so if an address is not recorded, no
 * connection to it was attempted.
 */
export const interceptConnections = ({
  redirectPort,
  connectDelayMs = 0,
  isPeerAddressSpoofed = true,
}: { redirectPort?: number; connectDelayMs?: number; isPeerAddressSpoofed?: boolean } = {}) => {
  // Accesses Node's internal socket handle, which has no types. For tests only.
  const bindings: { TCP: { prototype: TcpPrototype } } = Reflect.apply(
    Reflect.get(process, "binding"),
    process,
    ["tcp_wrap"],
  );
  const { prototype } = bindings.TCP;
  const { connect, connect6, getpeername } = prototype;
  const dialedAddresses: string[] = [];
  const spoofedAddresses = new WeakMap<object, string>();
  const interceptConnect: Connect = function (request, address) {
    dialedAddresses.push(address);
    if (redirectPort === undefined) return connectionRefusedErrno;
    if (isPeerAddressSpoofed) spoofedAddresses.set(this, address);
    if (connectDelayMs === 0) return connect.call(this, request, loopback, redirectPort);
    void injectDelay("slow peer", connectDelayMs).then(() =>
      connect.call(this, request, loopback, redirectPort),
    );
    return 0;
  };
  prototype.connect = interceptConnect;
  prototype.connect6 = interceptConnect;
  prototype.getpeername = function (peerName) {
    const errorCode = getpeername.call(this, peerName);
    const address = spoofedAddresses.get(this);
    if (address !== undefined) peerName.address = address;
    return errorCode;
  };
  return {
    dialedAddresses,
    restore: () => Object.assign(prototype, { connect, connect6, getpeername }),
  };
};
