import { Client, type Dispatcher, type buildConnector } from "undici";
import { boundAnswers } from "../../guard/bounded-connector.ts";
import type { AnswerStart } from "../../guard/final-answer.ts";

/** Handles one call; undici knows no `onAnswerStart`. */
export type CallHandler = Dispatcher.DispatchHandler & {
  /** Called at the final answer's status line, even if undici then rejects what follows. */
  onAnswerStart(start: AnswerStart): void;
};

type ConnectionOptions = Client.Options & {
  connect: buildConnector.connector;
  answerBytesMax: number;
};

/**
 * One connection of a pool, for one call at a time. Undici reports an answer once all of its headers are
 * parsed, and does not say which socket serves a call.
 */
export class SingleConnection extends Client {
  #handler: Dispatcher.DispatchHandler | undefined;

  constructor(origin: URL, { connect, answerBytesMax, ...options }: ConnectionOptions) {
    const onStart = (start: AnswerStart): void => {
      const handler = this.#handler;
      if (handler !== undefined && isCallHandler(handler)) handler.onAnswerStart(start);
    };
    super(origin, { ...options, connect: boundAnswers(connect, answerBytesMax, onStart) });
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
