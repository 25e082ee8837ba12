import type { PaymentRequest } from "../payment-request.ts";
import { deriveSolanaReference } from "./payment-reference.ts";
import { buildSolanaTransferRequestUrl } from "./payment-uri.ts";
import type { TokenProgram } from "./token-account.ts";

/**
 * A Solana transfer, as a transfer request URL and as its parts. The `reference` key identifies the
 * link.
 */
export type SolanaTransfer = {
  transferRequestUrl: string;
  recipient: string;
  splToken: string | null;
  tokenProgram: TokenProgram | null;
  reference: string;
};

/** A transfer of a token, which can also be paid by a transaction request. */
export type SolanaTokenTransfer = SolanaTransfer & {
  splToken: string;
  tokenProgram: TokenProgram;
};

/** Builds the transfer that pays a link on Solana. */
export const buildSolanaInstructions = ({
  link,
  token,
  amount,
  label,
  message,
}: PaymentRequest): SolanaTransfer => {
  const recipient = link.destinationAddress;
  const splToken = token.isNative ? null : token.address;
  const reference = deriveSolanaReference(link.paymentReference);
  return {
    // The memo lets a person who looks at the chain identify the link.
    transferRequestUrl: buildSolanaTransferRequestUrl({
      recipient,
      amount,
      splToken: splToken ?? undefined,
      reference,
      label,
      message,
      memo: link.id,
    }),
    recipient,
    splToken,
    tokenProgram: token.isNative ? null : (token.tokenProgram ?? "token"),
    reference,
  };
};
