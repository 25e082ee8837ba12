import {
  type Command,
  type Terminal,
  UsageError,
  exitCodes,
  jsonOption,
  urlOption,
} from "./command.ts";
import type { StreamEvent } from "./event-stream.ts";
import { type ForwardResult, type ListenerWebhook, forwardWebhook } from "./forward-webhook.ts";
import { toPrintable } from "./format.ts";
import { type Listener, receiveWebhooks } from "./listener-client.ts";
import { readKeySettings } from "./settings.ts";

export const listen: Command = {
  name: "listen",
  summary: "Receive webhooks on this computer.",
  details:
    "Receives the account's webhooks over an outgoing connection, and forwards each to a receiver with the same body and headers that an endpoint would get. The receiver verifies them with the signing secret that is printed first. Each webhook is forwarded once: a failed request is not repeated. Press Ctrl-C to end.",
  options: {
    "forward-to": {
      type: "string",
      placeholder: "URL",
      description: "The receiver, such as http://localhost:3000/hook. Default: only print.",
    },
    url: urlOption,
    json: jsonOption,
  },
  run: async (input) => {
    const { terminal } = input;
    const receiverUrl = parseReceiverUrl(input.getText("forward-to"));
    const settings = await readKeySettings(input);
    const isJson = input.isSet("json");
    await receiveWebhooks({
      ...settings,
      terminal,
      onListener: (listener) => printListener(terminal, listener, { isJson, receiverUrl }),
      onEvent: (event) => handleEvent(terminal, event, { isJson, receiverUrl }),
    });
    return exitCodes.success;
  },
};

const parseReceiverUrl = (text: string | undefined): URL | undefined => {
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (
    url === undefined ||
    !/^https?:$/.test(url.protocol) ||
    `${url.username}${url.password}` !== ""
  )
    throw new UsageError("--forward-to must be a URL, such as http://localhost:3000/hook.");
  return url;
};

type ListenOptions = { isJson: boolean; receiverUrl: URL | undefined };

const printListener = (
  terminal: Terminal,
  { secret, headerPrefix }: Listener,
  { isJson, receiverUrl }: ListenOptions,
): void => {
  if (isJson) {
    terminal.print(JSON.stringify({ type: "listening", secret, headerPrefix }));
    return;
  }
  terminal.print(`Signing secret: ${toPrintable(secret)}`);
  const target = receiverUrl === undefined ? "" : ` Forwarding to ${receiverUrl.href}.`;
  terminal.printNote(`Listening.${target} Failed requests are not repeated. Press Ctrl-C to end.`);
};

const handleEvent = async (
  terminal: Terminal,
  { name, data }: StreamEvent,
  { isJson, receiverUrl }: ListenOptions,
): Promise<void> => {
  if (name === "dropped") {
    const { count } = JSON.parse(data) as { count: number };
    if (isJson) terminal.print(JSON.stringify({ type: "dropped", count }));
    terminal.printNote(`${count} events are missing: more than 1,000 were waiting.`);
  }
  if (name !== "webhook") return;
  const webhook = JSON.parse(data) as ListenerWebhook;
  const receivedAt = terminal.now();
  const result =
    receiverUrl === undefined
      ? undefined
      : await forwardWebhook(receiverUrl, webhook, terminal.signal);
  // Ctrl-C ended the request.
  if (terminal.signal.aborted) return;
  const event = describeEvent(webhook.body);
  terminal.print(
    isJson
      ? JSON.stringify({ type: "webhook", time: receivedAt, ...event, ...result })
      : formatEvent(receivedAt, event, result),
  );
};

type EventDescription = { id: string; eventType: string; paymentLinkId: string };

const describeEvent = (body: string): EventDescription => {
  const { id, type, data } = JSON.parse(body) as {
    id: string;
    type: string;
    data?: { paymentLinkId?: string };
  };
  return { id, eventType: type, paymentLinkId: data?.paymentLinkId ?? "–" };
};

const formatEvent = (
  receivedAt: Date,
  { eventType, paymentLinkId }: EventDescription,
  result: ForwardResult | undefined,
): string => {
  const time = receivedAt.toTimeString().slice(0, 8);
  const outcome =
    result === undefined
      ? ""
      : `  ${result.status ?? result.error ?? "failed"}  ${result.durationMs} ms`;
  return toPrintable(`${time}  ${eventType}  ${paymentLinkId}${outcome}`);
};
