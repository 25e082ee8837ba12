import { randomBytes } from "node:crypto";
import { getFamily } from "@payment-links/chains";
import {
  type CatalogueToken,
  Decimal,
  type SettlementState,
  type SimulatedOutcome,
  newId,
} from "@payment-links/contracts";
import type { Link } from "./link.ts";
import { type Payment, simulationSource } from "./payment.ts";

/** The most bytes that a transaction hash of any family has. */
const transactionHashBytes = 64;

type Simulation = {
  link: Link;
  token: CatalogueToken;
  /** The address of a token on the same chain that the link does not accept. */
  otherTokenAddress: string;
  outcome: SimulatedOutcome;
  amount: Decimal | null;
  payer: string | null;
  now: Date;
};

/**
 * Builds the states in which settlement-listener would report a payment with this outcome. Its
 * transaction hash is random, because no transaction exists.
 */
export const simulatePayment = (simulation: Simulation): SettlementState[] => {
  const { amount, link, now, outcome, payer, token } = simulation;
  const { encodeTransactionHash } = getFamily(token.chain.chainType);
  const hash = encodeTransactionHash(randomBytes(transactionHashBytes));
  const payment: SettlementState = {
    id: newId("tx"),
    version: 1,
    source: simulationSource,
    sourceId: hash,
    paymentLinkId: link.id,
    status: "settled",
    amount: amount ?? getMissingAmount(link),
    tokenAddress: link.tokenAddress,
    chainId: link.chainId,
    destinationAddress: link.destinationAddress,
    ...(payer === null ? {} : { payer }),
    sourceTransaction: hash,
    occurredAt: now,
    firstSeenAt: now,
  };
  if (outcome === "processing" || outcome === "failed") return [{ ...payment, status: outcome }];
  return addOutcome({ ...payment, ...getMismatch(simulation, payment.amount) }, outcome);
};

const finalOutcomes = ["succeeded", "orphaned", "failed"] as const;
type FinalOutcome = (typeof finalOutcomes)[number];

/** Returns whether a processing payment can end with this outcome. */
export const isFinalOutcome = (outcome: SimulatedOutcome): outcome is FinalOutcome =>
  finalOutcomes.some((finalOutcome) => finalOutcome === outcome);

/**
 * Builds the next states of a simulated payment that is processing. It was sent at its first time,
 * so it counts even if the link has expired since (rule STATE-8).
 */
export const continueSimulation = (payment: Payment, outcome: FinalOutcome): SettlementState[] => {
  const { linkId: paymentLinkId, payer, version } = payment;
  const settlement: SettlementState = {
    id: payment.id,
    version: version + 1,
    source: payment.source,
    sourceId: payment.sourceId,
    paymentLinkId,
    status: outcome === "failed" ? "failed" : "settled",
    amount: payment.amount,
    tokenAddress: payment.tokenAddress,
    chainId: payment.chainId,
    destinationAddress: payment.destinationAddress,
    ...(payer === null ? {} : { payer }),
    sourceTransaction: payment.sourceTransaction,
    occurredAt: payment.occurredAt,
    firstSeenAt: payment.firstSeenAt,
  };
  return addOutcome(settlement, outcome);
};

/** Adds the state in which the chain has dropped a settled payment. */
const addOutcome = (settlement: SettlementState, outcome: SimulatedOutcome): SettlementState[] =>
  outcome === "orphaned"
    ? [settlement, { ...settlement, version: settlement.version + 1, isOrphaned: true }]
    : [settlement];

/** Returns the missing amount of a link, or its whole amount if nothing is missing. */
const getMissingAmount = ({ receivedAmount, toAmount }: Link): Decimal => {
  const missingAmount = toAmount.minus(receivedAmount);
  return missingAmount.greaterThan(0) ? missingAmount : toAmount;
};

/** Returns the fields that make a payment not count, for the outcomes that do so. */
const getMismatch = (
  { link, otherTokenAddress, outcome, token }: Simulation,
  amount: Decimal,
): Partial<SettlementState> => {
  if (outcome === "wrong_token") return { tokenAddress: otherTokenAddress };
  if (outcome === "wrong_destination") return { destinationAddress: link.tokenAddress };
  if (outcome !== "wrong_amount") return {};
  const tooFine = new Decimal(10).pow(-(token.decimals + 1));
  return { amount: amount.toDecimalPlaces(token.decimals, Decimal.ROUND_DOWN).plus(tooFine) };
};
