import { createClient } from "../create-client.ts";
import { WaitTimeoutError } from "../errors.ts";
import { systemRuntime } from "../runtime.ts";
import type { RetrievedPaymentLink } from "../shapes.ts";
import { type Command, type ExitCode, exitCodes, jsonOption, urlOption } from "./command.ts";
import { formatLinkLine } from "./format.ts";
import { readSettings } from "./settings.ts";

/** The longest wait of the SDK, which is then repeated. */
const waitMsMax = 86_400_000;

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
    const runtime = {
      ...systemRuntime,
      wait: (ms: number) => terminal.wait(ms, terminal.signal),
    };
    const client = createClient(await readSettings(input), runtime);
    let printedState = "";
    const printChange = (link: RetrievedPaymentLink): void => {
      const state = `${link.status} ${link.receivedAmount}`;
      if (state === printedState) return;
      printedState = state;
      terminal.print(input.isSet("json") ? JSON.stringify(link) : formatLinkLine(link));
    };
    const until = (link: RetrievedPaymentLink): boolean => {
      printChange(link);
      return false;
    };
    const options = { signal: terminal.signal, timeoutMs: waitMsMax, until };
    // Unlike a wait, this call fails if the service cannot be reached.
    printChange(await client.retrievePaymentLink(id, { signal: terminal.signal }));
    for (;;) {
      try {
        const link = await client.waitForPaymentLink(id, options);
        printChange(link);
        return toExitCode(link);
      } catch (error) {
        if (!(error instanceof WaitTimeoutError) || error.cause !== undefined) throw error;
      }
    }
  },
};

const toExitCode = ({ status }: RetrievedPaymentLink): ExitCode =>
  status === "completed" ? exitCodes.success : exitCodes.inactive;
