import { requireChromium } from "../rig/require-chromium.ts";
import {
  expectNoRetryOffered,
  expectPayableImmediately,
  findErrorResponses,
  walletErrorTexts,
} from "../rig/wallet-errors.ts";
import { useCheckout } from "../rig/use-checkout.ts";

const { describe, test } = requireChromium();

const rig = useCheckout();

/** After errors of these kinds the payment may have been sent. */
const ambiguousKinds = new Set(["unknown", "unreachable"]);

const responses = findErrorResponses("eth_sendTransaction");

describe("a payer whose wallet answers the payment with an error", () => {
  test.each(responses.filter(([, { kind }]) => !ambiguousKinds.has(kind)))(
    "(%s) is told why, and pays with the next click",
    (_wallet, { error, kind }) => expectPayableImmediately(rig, error, walletErrorTexts[kind]),
  );

  test.each(responses.filter(([, { kind }]) => ambiguousKinds.has(kind)))(
    "(%s) that leaves open whether it was sent is asked to be careful",
    (_wallet, { error }) => expectNoRetryOffered(rig, error),
  );
});
