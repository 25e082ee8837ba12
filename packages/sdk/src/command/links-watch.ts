import { createPaymentLinks } from "../index.ts";
import type { RetrievedPaymentLink } from "../shapes.ts";
import { type Command, type ExitCode, exitCodes, jsonOption, urlOption } from "./command.ts";
import { formatLinkLine } from "./format.ts";
import { readSettings } from "./settings.ts";

const pollMsMin = 1_000;
const pollMsMax = 15_000;
const pollGrowth = 1.2;

export const linksWatch: Command = {
  name: "links watch",
  summary: "Wait until a payment link is completed or inactive. Needs no API key.",
  details:
    "Prints the link whenever its status or its received amount changes. Exits with 0 if the link is completed, and with 3 if it is inactive.",
  parameters: ["ID"],
  options: { url: urlOption, json: jsonOption },
  run: async (input) => {
    const { terminal } = input;
    const [id = ""] = input.parameters;
    const client = createPaymentLinks(await readSettings(input));
    let printedState = "";
    for (let waitMs = pollMsMin; ; waitMs = Math.min(waitMs * pollGrowth, pollMsMax)) {
      const link = await client.retrievePaymentLink(id, { signal: terminal.signal });
      const state = `${link.status} ${link.receivedAmount}`;
      if (state !== printedState) {
        terminal.print(input.isSet("json") ? JSON.stringify(link) : formatLinkLine(link));
        // A change is often followed by another one.
        waitMs = pollMsMin;
      }
      printedState = state;
      if (link.status !== "active") return toExitCode(link);
      await terminal.wait(waitMs, terminal.signal);
    }
  },
};

const toExitCode = ({ status }: RetrievedPaymentLink): ExitCode =>
  status === "completed" ? exitCodes.success : exitCodes.inactive;
