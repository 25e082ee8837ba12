import { useState } from "react";
import { WalletError } from "@payment-links/chains/browser-wallets/wallet-errors.js";
import { callOperation } from "../../../api/call.ts";
import type {
  OwnPaymentLink,
  PaymentData,
  RefundInstructions,
  TokenData,
} from "../../../api/operations.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { PendingRefundView } from "./pending-refund-view.tsx";
import { readPendingRefund, storePendingRefund, usePendingRefund } from "./pending-refund.ts";
import { suggestRefundAmount, sumPaymentRefunds } from "./refund-amount.ts";
import {
  ManualRefundForm,
  type RefundFields,
  SendRefundForm,
  WalletChoice,
} from "./refund-forms.tsx";
import type { RefundWallet } from "./refund-wallet.ts";
import { type SentRefund, recordRefund, sendRefund } from "./send-refund.ts";
import { texts } from "./texts.ts";
import { findRefundWallets } from "./wallet-source.ts";

type RefundProps = {
  link: OwnPaymentLink;
  payment: PaymentData;
  token: TokenData;
  onClose: () => void;
};

/** What the dialog shows while no refund of the payment is pending. */
type Step =
  | { kind: "form" }
  | { kind: "manual" }
  | { kind: "choice"; wallets: readonly RefundWallet[]; instructions: RefundInstructions };

/** Refunds a payment from the owner's wallet, and records the transaction (rule CALLER-44). */
const RefundDialog = ({ link, payment, token, onClose }: RefundProps) => {
  const target = { linkId: link.id, paymentId: payment.id };
  const { pending, isAsked } = usePendingRefund(payment.id);
  const [isRecording, setRecording] = useState(false);
  const record = async (refund: SentRefund): Promise<void> => {
    setRecording(true);
    try {
      await recordRefund(target, refund);
      onClose();
    } finally {
      setRecording(false);
    }
  };
  const { askWallet, otherAccount, prepare, setStep, step, fields, walletFault } = useWallet({
    link,
    payment,
    token,
    record,
  });
  const showForm = () => setStep({ kind: "form" });
  const formProps = { fields, sender: payment.sender, token };
  if (pending !== undefined || isRecording) {
    return (
      <Dialog title={texts.title} onClose={onClose}>
        <PendingRefundView
          {...{ pending, isAsked, isRecording, otherAccount, token, target, onClose }}
          onRecord={record}
        />
      </Dialog>
    );
  }
  if (step.kind === "choice") {
    return (
      <Dialog title={texts.chooseWallet} onClose={onClose}>
        <WalletChoice
          wallets={step.wallets}
          onChoose={(wallet) => askWallet(wallet, step.instructions)}
          onBack={showForm}
        />
      </Dialog>
    );
  }
  if (step.kind === "manual") {
    return (
      <Dialog title={texts.recordTitle} onClose={onClose}>
        <ManualRefundForm
          {...formProps}
          onBack={showForm}
          onSubmit={async (refund) => {
            await recordRefund(target, refund);
            onClose();
          }}
        />
      </Dialog>
    );
  }
  return (
    <Dialog title={texts.title} onClose={onClose}>
      <SendRefundForm
        {...formProps}
        refunded={sumPaymentRefunds(link, payment)}
        walletFault={walletFault}
        onSubmit={prepare}
        onRecordManually={() => setStep({ kind: "manual" })}
        onClose={onClose}
      />
    </Dialog>
  );
};
export default RefundDialog;

const walletErrorTexts: Readonly<Record<string, string>> = texts.walletErrors;

/** The steps from the form to the wallet's answer. */
const useWallet = ({
  link,
  payment,
  token,
  record,
}: Omit<RefundProps, "onClose"> & { record: (refund: SentRefund) => Promise<void> }) => {
  const [step, setStep] = useState<Step>({ kind: "form" });
  const [fields, setFields] = useState<RefundFields>(() => ({
    amount: suggestRefundAmount(link, payment) ?? "",
    destinationAddress: payment.sender ?? "",
  }));
  const [walletFault, setWalletFault] = useState<string>();
  const [otherAccount, setOtherAccount] = useState<string>();
  const paymentId = payment.id;

  const askWallet = async (
    wallet: RefundWallet,
    instructions: RefundInstructions,
  ): Promise<void> => {
    setWalletFault(undefined);
    try {
      const target = { linkId: link.id, paymentId };
      const sentRefund = await sendRefund(target, wallet, instructions, (account) =>
        setOtherAccount(isReceiver(link, payment, account) ? undefined : account),
      );
      // If this fails, the pending refund keeps the id and offers to record it again.
      await record(sentRefund).catch(() => undefined);
    } catch (error) {
      if (!(error instanceof WalletError)) throw error;
      setStep({ kind: "form" });
      // A refund that may have been sent stays pending, and the dialog shows that instead.
      if (readPendingRefund(paymentId) !== undefined) return;
      setWalletFault(walletErrorTexts[error.kind] ?? texts.walletErrors.other);
    }
  };
  const prepare = async (enteredFields: RefundFields): Promise<void> => {
    setFields(enteredFields);
    setWalletFault(undefined);
    const body = { paymentId, ...enteredFields };
    const instructions = await callOperation("prepareRefund", { path: { id: link.id }, body });
    if (instructions.uri !== null) return storeRequest(paymentId, instructions, instructions.uri);
    const wallets = await findRefundWallets(instructions, token);
    const [wallet, ...otherWallets] = wallets;
    if (wallet === undefined) return setWalletFault(texts.walletErrors.noWallet);
    if (otherWallets.length > 0) return setStep({ kind: "choice", wallets, instructions });
    await askWallet(wallet, instructions);
  };
  return { askWallet, fields, otherAccount, prepare, setStep, step, walletFault };
};

/** Stores a payment request, so that it is still shown when the dialog is opened again. */
const storeRequest = (
  paymentId: string,
  { amount, destinationAddress }: RefundInstructions,
  uri: string,
): void => {
  if (readPendingRefund(paymentId) !== undefined) return;
  storePendingRefund(paymentId, { amount, destinationAddress, uri });
};

/** Returns whether an account is the wallet that received a payment, as far as the page knows. */
const isReceiver = (
  { destinationAddress }: OwnPaymentLink,
  { reason }: PaymentData,
  account: string,
): boolean =>
  reason === "wrong_destination" || account.toLowerCase() === destinationAddress.toLowerCase();
