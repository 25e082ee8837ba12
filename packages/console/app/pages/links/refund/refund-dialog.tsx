import { useState } from "react";
import { WalletError } from "@payment-links/chains/browser-wallets/wallet-errors.js";
import { callOperation } from "../../../api/call.ts";
import type {
  OwnPaymentLink,
  PaymentData,
  RefundInstructions,
  TokenData,
} from "../../../api/operations.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Field } from "../../../ui/field.tsx";
import { AsyncButton, Form } from "../../../ui/form.tsx";
import { truncateMiddle } from "../../../ui/format.ts";
import { Notice } from "../../../ui/notice.tsx";
import { texts as uiTexts } from "../../../ui/texts.ts";
import { formatTokenAmount } from "../../../ui/token-amount.ts";
import uiStyles from "../../../ui/ui.module.css";
import { PendingRefundView } from "./pending-refund-view.tsx";
import { readPendingRefund, storePendingRefund, usePendingRefund } from "./pending-refund.ts";
import { suggestRefundAmount, sumPaymentRefunds } from "./refund-amount.ts";
import type { RefundWallet } from "./refund-wallet.ts";
import { recordRefund, sendRefund } from "./send-refund.ts";
import { texts } from "./texts.ts";
import { findRefundWallets } from "./wallet-source.ts";

type RefundProps = {
  link: OwnPaymentLink;
  payment: PaymentData;
  token: TokenData;
  onClose: () => void;
};

type Fields = Readonly<Record<string, string>>;

/** What the dialog shows while no refund of the payment is pending. */
type Step =
  | { kind: "form" }
  | { kind: "manual" }
  | { kind: "choice"; wallets: readonly RefundWallet[]; instructions: RefundInstructions };

/** Refunds a payment from the owner's wallet, and records the transaction (rule CALLER-44). */
const RefundDialog = (props: RefundProps) => {
  const { link, payment, token, onClose } = props;
  const { pending, isAsked } = usePendingRefund(payment.id);
  const refund = useRefund(props);
  const { step, isRecording } = refund;
  if (pending !== undefined || isRecording) {
    return (
      <Dialog title={texts.title} onClose={onClose}>
        <PendingRefundView
          pending={pending}
          isAsked={isAsked}
          isRecording={isRecording}
          otherAccount={refund.otherAccount}
          token={token}
          target={{ linkId: link.id, paymentId: payment.id }}
          onRecord={refund.record}
          onClose={onClose}
        />
      </Dialog>
    );
  }
  if (step.kind === "choice") return <WalletChoice {...props} {...refund} step={step} />;
  if (step.kind === "manual") return <ManualRecord {...props} {...refund} />;
  return <RefundForm {...props} {...refund} />;
};
export default RefundDialog;

/** The state of the dialog, and what its buttons do. */
const useRefund = ({ link, payment, token, onClose }: RefundProps) => {
  const [step, setStep] = useState<Step>({ kind: "form" });
  const [entered, setEntered] = useState<Fields>(() => suggestFields(link, payment));
  const [walletFault, setWalletFault] = useState<string>();
  const [otherAccount, setOtherAccount] = useState<string>();
  const [isRecording, setRecording] = useState(false);
  const target = { linkId: link.id, paymentId: payment.id };

  const record = async (refund: Parameters<typeof recordRefund>[1]): Promise<void> => {
    setRecording(true);
    try {
      await recordRefund(target, refund);
      onClose();
    } finally {
      setRecording(false);
    }
  };
  const askWallet = async (
    wallet: RefundWallet,
    instructions: RefundInstructions,
  ): Promise<void> => {
    setWalletFault(undefined);
    try {
      const sent = await sendRefund(target, wallet, instructions, (account) =>
        setOtherAccount(isReceiver(link, payment, account) ? undefined : account),
      );
      // If this fails, the pending refund keeps the id and offers to record it again.
      await record(sent).catch(() => undefined);
    } catch (error) {
      if (!(error instanceof WalletError)) throw error;
      setStep({ kind: "form" });
      // A refund that may have been sent stays pending, and the dialog shows that instead.
      if (readPendingRefund(payment.id) !== undefined) return;
      setWalletFault(describeWalletError(error.kind));
    }
  };
  const prepare = async (fields: Fields): Promise<void> => {
    setEntered(fields);
    setWalletFault(undefined);
    const instructions = await prepareInstructions(link, payment, fields);
    if (instructions.uri !== null) {
      storeRequest(payment.id, { ...instructions, uri: instructions.uri });
      return;
    }
    const wallets = await findRefundWallets(instructions, token);
    const [wallet, ...otherWallets] = wallets;
    if (wallet === undefined) setWalletFault(texts.walletErrors.noWallet);
    else if (otherWallets.length > 0) setStep({ kind: "choice", wallets, instructions });
    else await askWallet(wallet, instructions);
  };
  return {
    step,
    setStep,
    entered,
    walletFault,
    otherAccount,
    isRecording,
    record,
    askWallet,
    prepare,
  };
};

const describeWalletError = (kind: string): string => {
  const descriptions: Readonly<Record<string, string>> = texts.walletErrors;
  return descriptions[kind] ?? texts.walletErrors.other;
};

type RefundState = ReturnType<typeof useRefund>;

const prepareInstructions = (
  link: OwnPaymentLink,
  payment: PaymentData,
  { amount = "", walletAddress = "" }: Fields,
): Promise<RefundInstructions> =>
  callOperation("prepareRefund", {
    path: { id: link.id },
    body: { paymentId: payment.id, amount, destinationAddress: walletAddress },
  });

/** Stores the payment request that a wallet app is asked to pay, unless a refund is pending. */
const storeRequest = (
  paymentId: string,
  { amount, destinationAddress, uri }: RefundInstructions & { uri: string },
): void => {
  if (readPendingRefund(paymentId) !== undefined) return;
  storePendingRefund(paymentId, { amount, destinationAddress, uri });
};

const WalletChoice = ({
  step: { wallets, instructions },
  setStep,
  askWallet,
  onClose,
}: RefundProps & RefundState & { step: Extract<Step, { kind: "choice" }> }) => (
  <Dialog title={texts.chooseWallet} onClose={onClose}>
    {wallets.map((wallet) => (
      <AsyncButton key={wallet.id} onPress={() => askWallet(wallet, instructions)}>
        {wallet.name === "" ? texts.unnamedWallet : wallet.name}
      </AsyncButton>
    ))}
    <div className={uiStyles["row"]}>
      <Button onPress={() => setStep({ kind: "form" })}>{texts.back}</Button>
    </div>
  </Dialog>
);

/** Records a refund that was sent without this page. */
const ManualRecord = ({
  link,
  payment,
  token,
  entered,
  setStep,
  onClose,
}: RefundProps & RefundState) => (
  <Dialog title={texts.recordTitle} onClose={onClose}>
    <p>{texts.recordText}</p>
    <Form
      submitLabel={texts.record}
      cancelButton={<Button onPress={() => setStep({ kind: "form" })}>{texts.back}</Button>}
      onSubmit={async ({ amount = "", walletAddress = "", transactionId = "" }) => {
        const refund = { amount, destinationAddress: walletAddress, transactionId };
        await recordRefund({ linkId: link.id, paymentId: payment.id }, refund);
        onClose();
      }}
    >
      <RefundFields entered={entered} payment={payment} token={token} />
      <Field name="transactionId" label={texts.transactionId} isRequired maxLength={200} />
    </Form>
  </Dialog>
);

const RefundForm = ({
  link,
  payment,
  token,
  entered,
  walletFault,
  prepare,
  setStep,
  onClose,
}: RefundProps & RefundState) => {
  const refunded = sumPaymentRefunds(link, payment);
  return (
    <Dialog title={texts.title} onClose={onClose}>
      {refunded !== undefined && (
        <Notice tone="warn">{texts.alreadyRefunded(formatTokenAmount(refunded, token))}</Notice>
      )}
      <Form
        submitLabel={texts.openWallet}
        cancelButton={<Button onPress={onClose}>{uiTexts.cancel}</Button>}
        onSubmit={prepare}
      >
        <RefundFields entered={entered} payment={payment} token={token} />
        <Notice tone="warn">{texts.confirmAddress}</Notice>
        {walletFault !== undefined && <Notice tone="bad">{walletFault}</Notice>}
      </Form>
      <div>
        <Button variant="quiet" onPress={() => setStep({ kind: "manual" })}>
          {texts.recordManually}
        </Button>
      </div>
    </Dialog>
  );
};

const suggestFields = (link: OwnPaymentLink, payment: PaymentData): Fields => ({
  amount: suggestRefundAmount(link, payment) ?? "",
  walletAddress: payment.sender ?? "",
});

/** Returns whether an account is the wallet that received a payment, as far as the page knows. */
const isReceiver = (
  { destinationAddress }: OwnPaymentLink,
  { reason }: PaymentData,
  account: string,
): boolean =>
  reason === "wrong_destination" || account.toLowerCase() === destinationAddress.toLowerCase();

const RefundFields = ({
  entered,
  payment,
  token,
}: Pick<RefundProps, "payment" | "token"> & { entered: Fields }) => (
  <>
    <p className={uiStyles["quiet"]}>{texts.tokenOnNetwork(token.symbol, token.chain.name)}</p>
    <Field
      name="amount"
      label={texts.amount}
      defaultValue={entered["amount"] ?? ""}
      unit={token.symbol}
      isRequired
      inputProps={{ inputMode: "decimal" }}
    />
    <Field
      name="walletAddress"
      label={texts.address}
      defaultValue={entered["walletAddress"] ?? ""}
      hint={
        payment.sender === null
          ? texts.addressMissing
          : `${texts.addressHint} ${truncateMiddle(payment.sender)}`
      }
      isRequired
      maxLength={200}
      inputProps={{ spellCheck: false }}
    />
  </>
);
