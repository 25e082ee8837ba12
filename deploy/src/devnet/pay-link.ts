import { request } from "undici";
import * as z from "zod";
import { Decimal, ApiError, body, nullable, required, text } from "@payment-links/contracts";
import { type InternalRoute, sendJson, readJsonBody } from "@payment-links/http";
import type { ReadEndedLink } from "@payment-links/links-api";
import type { LocalChain, LocalPayment } from "./local-chain.ts";

const PaymentRequest = body({
  paymentLinkId: required(text({ lengthMin: 1, lengthMax: 100 })),
  amount: nullable(text({ lengthMin: 1, lengthMax: 100 })),
});
type PaymentRequest = z.output<typeof PaymentRequest>;

/** The checkout data that a payer on a local chain needs. */
const CheckoutLink = z.object({
  destinationAddress: z.string(),
  token: z.object({
    symbol: z.string(),
    address: z.string(),
    chain: z.object({ id: z.string(), name: z.string() }),
  }),
  instructions: z
    .object({
      amount: z.string(),
      amountBaseUnits: z.string(),
      reference: z.string().optional(),
      steps: z
        .array(z.object({ to: z.string(), value: z.string(), data: z.string() }))
        .max(3)
        .default([]),
    })
    .nullable(),
  reason: z.string().nullable(),
});

const ErrorBody = z.object({
  errors: z.array(z.object({ code: z.string(), message: z.string() })).min(1),
});

type PaymentRouteOptions = {
  chains: readonly LocalChain[];
  /** The URL of this process's own checkout. */
  publicUrl: string;
  readEndedLink: ReadEndedLink;
};

/**
 * Creates POST /internal/devnet/payments, which pays a link on its local chain according to the
 * checkout's public instructions. It can also pay a link that has ended, to test overpayments and
 * late payments. If the payment is not possible, the response is 409 with the reason.
 */
export const createPayLinkRoute = (options: PaymentRouteOptions): InternalRoute => ({
  method: "post",
  path: "/internal/devnet/payments",
  handle: async (req, res) => {
    const paymentRequest = await readJsonBody(req, PaymentRequest);
    const { chain, payment, amount } = await planPayment(options, paymentRequest);
    const transactionHash = await chain.pay(payment).catch((error: unknown) => {
      throw createCannotPayError(
        `${chain.chainId}: ${error instanceof Error ? error.message : String(error)}`,
      );
    });
    sendJson(res, 200, { transactionHash, amount, paymentLinkId: paymentRequest.paymentLinkId });
  },
});

type PaymentPlan = { chain: LocalChain; payment: LocalPayment; amount: string };

const endReasons = new Set(["completed", "expired", "inactive"]);

const planPayment = async (
  { chains, publicUrl, readEndedLink }: PaymentRouteOptions,
  paymentRequest: PaymentRequest,
): Promise<PaymentPlan> => {
  const link = await fetchCheckoutLink(publicUrl, paymentRequest);
  const { paymentLinkId, amount: requestedAmount } = paymentRequest;
  const { destinationAddress, token, instructions, reason } = endReasons.has(link.reason ?? "")
    ? CheckoutLink.parse(
        // The checkout has just validated the amount.
        await readEndedLink(
          paymentLinkId,
          requestedAmount === null ? undefined : new Decimal(requestedAmount),
        ),
      )
    : link;
  const chain = chains.find(({ chainId }) => chainId === token.chain.id);
  if (chain === undefined) {
    const ids = chains.map(({ chainId }) => chainId).join(", ");
    throw createCannotPayError(
      `the link is paid in ${token.symbol} on ${token.chain.name}, which is not one of the running ` +
        `local chains (${ids}); its owner needs a default wallet on one of them`,
    );
  }
  if (instructions === null)
    throw createCannotPayError(`the link does not accept payments: ${reason}`);
  const { amount, amountBaseUnits, reference, steps } = instructions;
  const payment = {
    destination: destinationAddress,
    tokenAddress: token.address,
    amountBaseUnits: BigInt(amountBaseUnits),
    reference,
    calls: steps.map((step) => ({ ...step, value: BigInt(step.value) })),
  };
  return { chain, payment, amount };
};

const timeoutMs = 30_000;

const fetchCheckoutLink = async (publicUrl: string, { paymentLinkId, amount }: PaymentRequest) => {
  const url = new URL(`${publicUrl}/checkout/payment-links/${encodeURIComponent(paymentLinkId)}`);
  if (amount !== null) url.searchParams.set("amount", amount);
  const response = await request(url, { headersTimeout: timeoutMs, bodyTimeout: timeoutMs });
  const responseBody: unknown = await response.body.json();
  if (response.statusCode === 200) return CheckoutLink.parse(responseBody);
  // Does not return the checkout's status, because a 404 from this route means that no local chain
  // is running.
  throw new ApiError(conflictStatus, ErrorBody.parse(responseBody).errors);
};

const conflictStatus = 409;

const createCannotPayError = (message: string): ApiError =>
  new ApiError(conflictStatus, [{ code: "DEVNET_CANNOT_PAY", message }]);
