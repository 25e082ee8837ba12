import process from "node:process";

type Connect = (this: unknown, request: unknown, address: string, port: number) => number;
type TcpPrototype = { connect: Connect; connect6: Connect };

/** What libuv answers where nobody listens. */
const connectionRefused = -111;

/**
 * Stands between Node and the operating system and notes every address that a socket is about to dial.
 * Nothing is dialled: each attempt is answered as refused. This is below every hook that our own code
 * could set, so what is not counted here was not tried.
 */
export const countDials = () => {
  // The untyped door to Node's own socket handle; tests alone may use it.
  const bindings: { TCP: { prototype: TcpPrototype } } = Reflect.apply(
    Reflect.get(process, "binding"),
    process,
    ["tcp_wrap"],
  );
  const { TCP } = bindings;
  const original = { connect: TCP.prototype.connect, connect6: TCP.prototype.connect6 };
  const dialled: string[] = [];
  const note: Connect = (_request, address) => {
    dialled.push(address);
    return connectionRefused;
  };
  TCP.prototype.connect = note;
  TCP.prototype.connect6 = note;
  return {
    dialled,
    restore: () => Object.assign(TCP.prototype, original),
  };
};
