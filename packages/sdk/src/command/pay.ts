import { callService } from "./call-service.ts";
import { type Command, UsageError, exitCodes, jsonOption, urlOption } from "./command.ts";
import { toPrintable } from "./format.ts";
import { readKeySettings } from "./settings.ts";

export const outcomes = [
  "succeeded",
  "late",
  "wrong_token",
  "wrong_destination",
  "wrong_amount",
  "orphaned",
  "processing",
  "failed",
];

/** The fields of a simulated payment that are printed. */
type SimulatedPayment = { id: string; status: string; amount: string; reason: string | null };

export const pay: Command = {
  name: "pay",
  summary: "Simulate a payment on a test link. Needs a test key.",
  parameters: ["ID"],
  options: {
    amount: {
      type: "string",
      placeholder: "AMOUNT",
      description: "The amount. Default: what is missing.",
    },
    outcome: {
      type: "string",
      placeholder: "OUTCOME",
      description: `What happens to the payment: ${outcomes.join(", ")}. Default: succeeded.`,
    },
    url: urlOption,
    json: jsonOption,
  },
  run: async (input) => {
    const { terminal } = input;
    const [id = ""] = input.parameters;
    const outcome = input.getText("outcome");
    if (outcome !== undefined && !outcomes.includes(outcome))
      throw new UsageError(`--outcome must be one of ${outcomes.join(", ")}.`);
    const payment = (await callService({
      ...(await readKeySettings(input)),
      method: "POST",
      path: `/v1/test/payment-link/${encodeURIComponent(id)}/pay`,
      body: { amount: input.getText("amount"), outcome },
      signal: terminal.signal,
    })) as SimulatedPayment;
    const { amount, reason, status } = payment;
    const result = `${payment.id}  ${status}  ${amount}${reason === null ? "" : `  ${reason}`}`;
    terminal.print(input.isSet("json") ? JSON.stringify(payment) : toPrintable(result));
    return exitCodes.success;
  },
};
