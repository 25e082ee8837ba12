import { Client, type Dispatcher, type buildConnector } from "undici";
import { limitResponseBytes } from "../../guard/limit-response-bytes.ts";
import type { ResponseStart } from "../../guard/final-response-filter.ts";

/** The handler of one request. `onAnswerStart` is our addition to undici's handler. */
export type CallHandler = Dispatcher.DispatchHandler & {
  /** Called at the status line of the final response, even if undici then rejects the rest. */
  onAnswerStart(start: ResponseStart): void;
};

type ConnectionOptions = Client.Options & {
  connect: buildConnector.connector;
  responseBytesMax: number;
};

/**
 * A pooled connection that serves one request at a time. It is needed because undici reports a
 * response only after parsing all of its headers, and does not say to which request the bytes on a
 * socket belong.
 */
export class SingleConnection extends Client {
  #handler: Dispatcher.DispatchHandler | undefined;

  constructor(origin: URL, { connect, responseBytesMax, ...options }: ConnectionOptions) {
    const onResponseStart = (responseStart: ResponseStart): void => {
      const handler = this.#handler;
      if (handler !== undefined && isCallHandler(handler)) handler.onAnswerStart(responseStart);
    };
    super(origin, {
      ...options,
      connect: limitResponseBytes(connect, responseBytesMax, onResponseStart),
    });
  }

  override dispatch(
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
  ): boolean {
    this.#handler = handler;
    return super.dispatch(options, handler);
  }
}

const isCallHandler = (handler: Dispatcher.DispatchHandler): handler is CallHandler =>
  "onAnswerStart" in handler;
