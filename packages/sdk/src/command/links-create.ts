import { createPaymentLinks } from "../index.ts";
import { type Command, UsageError, exitCodes, jsonOption, urlOption } from "./command.ts";
import { readKeySettings } from "./settings.ts";

export const linksCreate: Command = {
  name: "links create",
  summary: "Create a payment link and print its URL.",
  options: {
    amount: {
      type: "string",
      placeholder: "AMOUNT",
      description: "The amount in the token of the default wallet, such as 25 or 0.1. Required.",
    },
    description: { type: "string", placeholder: "TEXT", description: "Shown to the payer." },
    "max-usage": {
      type: "string",
      placeholder: "COUNT",
      description: "The number of payments that complete the link.",
    },
    expires: {
      type: "string",
      placeholder: "TIME",
      description: "When the link expires, such as 2026-12-31T12:00:00Z.",
    },
    "idempotency-key": {
      type: "string",
      placeholder: "KEY",
      description: "A repeat with the same key within 24 hours creates no second link.",
    },
    url: urlOption,
    json: jsonOption,
  },
  run: async (input) => {
    const { terminal } = input;
    const toAmount = input.getText("amount");
    if (toAmount === undefined) throw new UsageError("--amount is required.");
    const maxUsage = parseMaxUsage(input.getText("max-usage"));
    const client = createPaymentLinks(await readKeySettings(input));
    const link = await client.createPaymentLink(
      {
        toAmount,
        description: input.getText("description"),
        expirationDate: input.getText("expires"),
        ...(maxUsage === undefined ? {} : { maxUsage }),
      },
      { idempotencyKey: input.getText("idempotency-key"), signal: terminal.signal },
    );
    terminal.print(input.isSet("json") ? JSON.stringify(link) : `${link.id}\n${link.url}`);
    return exitCodes.success;
  },
};

const parseMaxUsage = (text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new UsageError("--max-usage must be a whole number.");
  return Number(text);
};
