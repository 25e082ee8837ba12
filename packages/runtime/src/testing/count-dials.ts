import process from "node:process";
import { injectDelay } from "./inject-delay.ts";

type Connect = (this: object, request: unknown, address: string, port: number) => number;
type PeerName = (this: object, out: { address?: string }) => number;
type TcpPrototype = { connect: Connect; connect6: Connect; getpeername: PeerName };

/** libuv's error where nobody listens. */
const connectionRefused = -111;

const loopback = "127.0.0.1";

/**
 * Stands between Node and the operating system and notes every address that a socket is about to
 * dial. No such address is really dialled: each attempt is answered as refused or, if a port is
 * given, by the server on that loopback port, which then seems to be at the address, unless it is
 * not disguised. The answer may be as late as a host far away gives it. This lies below every hook
 * that our own code could set, so what is not counted here was not tried.
 */
export const countDials = ({
  answeredAtPort,
  answerAfterMs = 0,
  isDisguised = true,
}: { answeredAtPort?: number; answerAfterMs?: number; isDisguised?: boolean } = {}) => {
  // The untyped way to Node's own socket handle; only tests may use it.
  const bindings: { TCP: { prototype: TcpPrototype } } = Reflect.apply(
    Reflect.get(process, "binding"),
    process,
    ["tcp_wrap"],
  );
  const { prototype } = bindings.TCP;
  const { connect, connect6, getpeername } = prototype;
  const dialled: string[] = [];
  const seeming = new WeakMap<object, string>();
  const note: Connect = function (request, address) {
    dialled.push(address);
    if (answeredAtPort === undefined) return connectionRefused;
    if (isDisguised) seeming.set(this, address);
    if (answerAfterMs === 0) return connect.call(this, request, loopback, answeredAtPort);
    void injectDelay("slow peer", answerAfterMs).then(() =>
      connect.call(this, request, loopback, answeredAtPort),
    );
    return 0;
  };
  prototype.connect = note;
  prototype.connect6 = note;
  prototype.getpeername = function (out) {
    const failure = getpeername.call(this, out);
    const address = seeming.get(this);
    if (address !== undefined) out.address = address;
    return failure;
  };
  return {
    dialled,
    restore: () => Object.assign(prototype, { connect, connect6, getpeername }),
  };
};
