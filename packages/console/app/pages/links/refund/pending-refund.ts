import { useSyncExternalStore } from "react";

/**
 * A refund that a wallet was asked to send, as the browser stores it until it is recorded. The
 * dialog offers no other send meanwhile (rule CALLER-44).
 */
export type PendingRefund = {
  amount: string;
  destinationAddress: string;
  /** Set once the wallet has returned it. The money has left. */
  transactionId?: string;
  /** The id of a transaction that the wallet may have sent. */
  candidateId?: string;
  /** The payment request that was shown, on a chain without wallets in a browser. */
  uri?: string;
};

const buildKey = (paymentId: string): string => `refund ${paymentId}`;

/** Emits `change` after this tab has changed a stored refund. Other tabs get `storage` events. */
const changes = new EventTarget();

/** Calls back when a stored refund has changed in this tab or in another one. */
const subscribeToPendingRefunds = (listener: () => void): (() => void) => {
  changes.addEventListener("change", listener);
  window.addEventListener("storage", listener);
  return () => {
    changes.removeEventListener("change", listener);
    window.removeEventListener("storage", listener);
  };
};

/** The payments whose refund a wallet is being asked to send by this tab. */
const activeRequests = new Set<string>();

/** Marks that this tab waits for a wallet's answer, or no longer does. */
export const setWalletAsked = (paymentId: string, isAsked: boolean): void => {
  if (isAsked) activeRequests.add(paymentId);
  else activeRequests.delete(paymentId);
  changes.dispatchEvent(new Event("change"));
};

const readText = (paymentId: string): string | null => localStorage.getItem(buildKey(paymentId));

export const readPendingRefund = (paymentId: string): PendingRefund | undefined => {
  const text = readText(paymentId);
  return text === null ? undefined : (JSON.parse(text) as PendingRefund);
};

/** Returns the stored refund of a payment, and whether this tab waits for the wallet's answer. */
export const usePendingRefund = (
  paymentId: string,
): { pending: PendingRefund | undefined; isAsked: boolean } => {
  // A text, because React compares snapshots by identity.
  useSyncExternalStore(
    subscribeToPendingRefunds,
    () => `${activeRequests.has(paymentId)} ${readText(paymentId)}`,
  );
  return { pending: readPendingRefund(paymentId), isAsked: activeRequests.has(paymentId) };
};

export const storePendingRefund = (paymentId: string, pending: PendingRefund): void => {
  localStorage.setItem(buildKey(paymentId), JSON.stringify(pending));
  changes.dispatchEvent(new Event("change"));
};

export const clearPendingRefund = (paymentId: string): void => {
  localStorage.removeItem(buildKey(paymentId));
  changes.dispatchEvent(new Event("change"));
};
