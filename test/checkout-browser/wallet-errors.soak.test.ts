import { needingChromium } from "../rig/find-chromium.ts";
import {
  expectCareful,
  expectPayableAtOnce,
  findResponses,
  walletErrorWords,
} from "../rig/wallet-errors.ts";
import { useCheckout } from "../rig/use-checkout.ts";

const { describe, test } = needingChromium();

const rig = useCheckout();

/** After errors of these kinds the payment may have been sent. */
const careful = new Set(["unknown", "unreachable"]);

const responses = findResponses("eth_sendTransaction");

describe("a payer whose wallet answers the payment with an error", () => {
  test.each(responses.filter(([, { kind }]) => !careful.has(kind)))(
    "(%s) is told why, and pays with the next click",
    (_wallet, { error, kind }) => expectPayableAtOnce(rig, error, walletErrorWords[kind]),
  );

  test.each(responses.filter(([, { kind }]) => careful.has(kind)))(
    "(%s) that leaves open whether it was sent is asked to be careful",
    (_wallet, { error }) => expectCareful(rig, error),
  );
});
