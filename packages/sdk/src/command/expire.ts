import type { PaymentLinkData } from "../shapes.ts";
import { callService } from "./call-service.ts";
import { type Command, exitCodes, jsonOption, urlOption } from "./command.ts";
import { formatLinkLine } from "./format.ts";
import { readKeySettings } from "./settings.ts";

export const expire: Command = {
  name: "expire",
  summary: "Let a test link expire now. Needs a test key.",
  parameters: ["ID"],
  options: { url: urlOption, json: jsonOption },
  run: async (input) => {
    const { terminal } = input;
    const [id = ""] = input.parameters;
    const link = (await callService({
      ...(await readKeySettings(input)),
      method: "POST",
      path: `/v1/test/payment-link/${encodeURIComponent(id)}/expire`,
      signal: terminal.signal,
    })) as PaymentLinkData;
    terminal.print(input.isSet("json") ? JSON.stringify(link) : formatLinkLine(link));
    return exitCodes.success;
  },
};
