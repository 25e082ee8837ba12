import { Client, type Dispatcher, type buildConnector } from "undici";
import { limitResponseBytes } from "../../guard/limit-response-bytes.ts";
import type { ResponseStart } from "../../guard/final-response-filter.ts";

/** Handles one call; undici knows no `onAnswerStart`. */
export type CallHandler = Dispatcher.DispatchHandler & {
  /** Called at the final answer's status line, even if undici then rejects what follows. */
  onAnswerStart(start: ResponseStart): void;
};

type ConnectionOptions = Client.Options & {
  connect: buildConnector.connector;
  responseBytesMax: number;
};

/**
 * One connection of a pool, for one call at a time. Undici reports an answer once all of its headers are
 * parsed, and does not say which socket serves a call.
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
