import process from "node:process";
import { injectDelay } from "./inject-delay.ts";

type Connect = (this: object, request: unknown, address: string, port: number) => number;
type GetPeerName = (this: object, peerName: { address?: string }) => number;
type TcpPrototype = { connect: Connect; connect6: Connect; getpeername: GetPeerName };

/** libuv's error where nobody listens. */
const connectionRefusedErrno = -111;

const loopback = "127.0.0.1";

/**
 * Stands between Node and the operating system and notes every address that a socket is about to
 * dial. No such address is really dialled: each attempt is answered as refused or, if a port is
 * given, by the server on that loopback port, which then seems to be at the address, unless it is
 * not disguised. The answer may be as late as a host far away gives it. This lies below every hook
 * that our own code could set, so what is not counted here was not tried.
 */
export const interceptConnections = ({
  redirectPort,
  connectDelayMs = 0,
  isPeerAddressSpoofed = true,
}: { redirectPort?: number; connectDelayMs?: number; isPeerAddressSpoofed?: boolean } = {}) => {
  // The untyped way to Node's own socket handle; only tests may use it.
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
