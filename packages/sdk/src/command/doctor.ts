import { type Check, type ReceiverOptions, checkReceiver } from "./check-receiver.ts";
import { checkService } from "./check-service.ts";
import {
  type Command,
  type CommandInput,
  UsageError,
  exitCodes,
  jsonOption,
  urlOption,
} from "./command.ts";
import { formatColumns, toPrintable } from "./format.ts";
import { readSettings } from "./settings.ts";

export const doctor: Command = {
  name: "doctor",
  summary: "Check the service's address, the API key, the clock, and a webhook receiver.",
  details:
    "With --receiver, sends an event with a valid signature, one with a changed body and an old one, and expects 2xx, 4xx and 4xx. The events have a type that does not exist.",
  options: {
    receiver: {
      type: "string",
      placeholder: "URL",
      description: "A receiver whose signature check is tested.",
    },
    secret: {
      type: "string",
      placeholder: "SECRET",
      description: "Its signing secret. Default: PAYMENT_LINKS_WEBHOOK_SECRET.",
    },
    "header-prefix": {
      type: "string",
      placeholder: "PREFIX",
      description: "The prefix of the header names. Default: Service.",
    },
    yes: { type: "boolean", description: "Allow a receiver on another computer." },
    url: urlOption,
    json: jsonOption,
  },
  run: async (input) => {
    const { terminal } = input;
    const receiver = parseReceiver(input);
    const checks = await checkService(await readSettings(input), terminal);
    if (receiver !== undefined) checks.push(...(await checkReceiver(receiver)));
    for (const line of input.isSet("json") ? checks.map(toJson) : formatChecks(checks))
      terminal.print(line);
    const hasFailure = checks.some(({ result }) => result === "failed");
    return hasFailure ? exitCodes.failure : exitCodes.success;
  },
};

const parseReceiver = (input: CommandInput): ReceiverOptions | undefined => {
  const text = input.getText("receiver");
  if (text === undefined) return undefined;
  const receiverUrl = URL.canParse(text) ? new URL(text) : undefined;
  if (receiverUrl === undefined || !/^https?:$/.test(receiverUrl.protocol))
    throw new UsageError("--receiver must be a URL, such as http://localhost:3000/hook.");
  if (!isLoopback(receiverUrl) && !input.isSet("yes")) {
    throw new UsageError(
      `${receiverUrl.host} is another computer. Add --yes to send the test events there.`,
    );
  }
  const { terminal } = input;
  const secret = input.getText("secret") ?? terminal.env["PAYMENT_LINKS_WEBHOOK_SECRET"];
  if (secret === undefined || !/^whsec_[\x21-\x7e]{16,}$/.test(secret))
    throw new UsageError("--secret must be the complete signing secret, including whsec_.");
  const headerPrefix = input.getText("header-prefix") ?? "Service";
  if (!/^[A-Za-z][A-Za-z0-9-]{0,63}$/.test(headerPrefix))
    throw new UsageError("--header-prefix must be letters, digits and hyphens.");
  return { receiverUrl, secret, headerPrefix, now: terminal.now(), signal: terminal.signal };
};

const isLoopback = ({ hostname }: URL): boolean =>
  hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);

const toJson = (check: Check): string => JSON.stringify(check);

const symbols = { ok: "✓", warning: "!", failed: "✗" } as const;

const formatChecks = (checks: readonly Check[]): string[] =>
  formatColumns(
    checks.map(({ name, message, result }) => [`${symbols[result]} ${name}`, toPrintable(message)]),
  );
