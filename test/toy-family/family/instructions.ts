import type { Instructions } from "../../../packages/chains/src/instructions.ts";
import type { PaymentRequest } from "../../../packages/chains/src/payment-request.ts";

/** Builds the payment of a link: a transfer that contains the link's reference. */
export const buildTronInstructions = ({
  amountBaseUnits,
  link: { destinationAddress: address, paymentReference },
  token,
}: PaymentRequest): Instructions => ({
  uri: `toy:${address}?amount=${amountBaseUnits}&token=${token.address}&reference=${paymentReference}`,
  address,
});
