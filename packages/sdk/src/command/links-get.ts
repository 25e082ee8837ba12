import { createPaymentLinks } from "../index.ts";
import { type Command, exitCodes, jsonOption, urlOption } from "./command.ts";
import { formatColumns, formatLinkAmount, toPrintable } from "./format.ts";
import { readSettings } from "./settings.ts";

export const linksGet: Command = {
  name: "links get",
  summary: "Show a payment link. Needs no API key.",
  parameters: ["ID"],
  options: { url: urlOption, json: jsonOption },
  run: async (input) => {
    const { terminal } = input;
    const [id = ""] = input.parameters;
    const client = createPaymentLinks(await readSettings(input));
    const link = await client.retrievePaymentLink(id, { signal: terminal.signal });
    if (input.isSet("json")) {
      terminal.print(JSON.stringify(link));
      return exitCodes.success;
    }
    const rows: [string, string][] = [
      ["Id", link.id],
      ["Status", link.status],
      ["Received", formatLinkAmount(link)],
      ["Chain", link.token.chain.name],
      ["Description", link.description ?? "–"],
      ["Expires", link.expirationDate ?? "never"],
      ["URL", link.url],
      ["Receipt", link.transactionUrl ?? "–"],
    ];
    const printableRows = rows.map(([name, value]) => [name, toPrintable(value)] as const);
    for (const line of formatColumns(printableRows)) terminal.print(line);
    return exitCodes.success;
  },
};
