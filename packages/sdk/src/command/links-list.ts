import { createPaymentLinks } from "../index.ts";
import type { PaymentLinkData } from "../shapes.ts";
import { type Command, UsageError, exitCodes, jsonOption, urlOption } from "./command.ts";
import { formatLinkLine } from "./format.ts";
import { readKeySettings } from "./settings.ts";

const limitDefault = 10;
const limitMax = 10_000;
const statuses: readonly PaymentLinkData["status"][] = ["active", "completed", "inactive"];

export const linksList: Command = {
  name: "links list",
  summary: "List payment links, newest first.",
  options: {
    status: {
      type: "string",
      placeholder: "STATUS",
      description: "Only links that are active, completed or inactive.",
    },
    limit: {
      type: "string",
      placeholder: "COUNT",
      description: `The maximum number of links, up to ${limitMax}. Default: ${limitDefault}.`,
    },
    url: urlOption,
    json: jsonOption,
  },
  run: async (input) => {
    const { terminal } = input;
    const status = parseStatus(input.getText("status"));
    const limit = parseLimit(input.getText("limit"));
    const client = createPaymentLinks(await readKeySettings(input));
    let count = 0;
    for await (const link of client.eachPaymentLink({ status }, { signal: terminal.signal })) {
      terminal.print(input.isSet("json") ? JSON.stringify(link) : formatLinkLine(link));
      count += 1;
      if (count >= limit) break;
    }
    if (count === 0 && !input.isSet("json")) terminal.printNote("There are no links.");
    return exitCodes.success;
  },
};

const parseStatus = (text: string | undefined): PaymentLinkData["status"] | undefined => {
  const status = statuses.find((candidate) => candidate === text);
  if (text !== undefined && status === undefined)
    throw new UsageError(`--status must be one of ${statuses.join(", ")}.`);
  return status;
};

const parseLimit = (text = String(limitDefault)): number => {
  const limit = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > limitMax)
    throw new UsageError(`--limit must be a number from 1 to ${limitMax}.`);
  return limit;
};
