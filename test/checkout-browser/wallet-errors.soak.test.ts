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

/** After these kinds of errors, the wallet may still have sent the payment. */
const ambiguousKinds = new Set(["unknown", "unreachable"]);

const responses = findErrorResponses("eth_sendTransaction");

describe("a payer whose wallet returns an error for the payment", () => {
  test.each(responses.filter(([, { kind }]) => !ambiguousKinds.has(kind)))(
    "(%s) sees the reason and pays with the next click",
    (_wallet, { error, kind }) => expectPayableImmediately(rig, error, walletErrorTexts[kind]),
  );

  test.each(responses.filter(([, { kind }]) => ambiguousKinds.has(kind)))(
    "(%s) is asked to be careful if the payment may have been sent",
    (_wallet, { error }) => expectNoRetryOffered(rig, error),
  );
});
