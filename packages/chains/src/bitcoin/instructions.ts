import type { PaymentRequest } from "../payment-request.ts";
import { buildBitcoinUri } from "./payment-uri.ts";

/** A payment on Bitcoin to the link's own address. */
export type BitcoinPayment = { uri: string; address: string };

/** Builds the payment of a link on Bitcoin. */
export const buildBitcoinInstructions = ({
  link: { destinationAddress: address },
  amount,
  label,
  message,
}: PaymentRequest): BitcoinPayment => ({
  uri: buildBitcoinUri({ address, amount, label, message }),
  address,
});
