import { useState } from "react";
import type { TokenData } from "../../../api/operations.ts";
import { Button, ButtonAnchor } from "../../../ui/button.tsx";
import { Copyable } from "../../../ui/copyable.tsx";
import { ConfirmDialog } from "../../../ui/dialog.tsx";
import { Field } from "../../../ui/field.tsx";
import { AsyncButton, Form } from "../../../ui/form.tsx";
import { truncateMiddle } from "../../../ui/format.ts";
import { Notice } from "../../../ui/notice.tsx";
import { QrCode } from "../../../ui/qr-code.tsx";
import { formatTokenAmount } from "../../../ui/token-amount.ts";
import { TruncatedCode } from "../../../ui/truncated-code.tsx";
import uiStyles from "../../../ui/ui.module.css";
import { texts as linkTexts } from "../texts.ts";
import { type PendingRefund, clearPendingRefund } from "./pending-refund.ts";
import type { RefundTarget, SentRefund } from "./send-refund.ts";
import { texts } from "./texts.ts";

type ViewProps = {
  /** Undefined only for the moment between recording the refund and closing the dialog. */
  pending: PendingRefund | undefined;
  isAsked: boolean;
  isRecording: boolean;
  /** The account that sends the refund, if it is not the wallet that received the payment. */
  otherAccount: string | undefined;
  token: TokenData;
  target: RefundTarget;
  onRecord: (refund: SentRefund) => Promise<void>;
  onClose: () => void;
};

/** A refund that was sent or may have been sent. It never offers to send another one. */
export const PendingRefundView = (props: ViewProps) => {
  const { pending, isAsked, isRecording, onClose, onRecord, otherAccount, token } = props;
  const closeButton = <Button onPress={onClose}>{texts.close}</Button>;
  if (pending === undefined) return <Notice>{texts.recording}</Notice>;
  const amount = formatTokenAmount(pending.amount, token);
  const { transactionId } = pending;
  if (isAsked) {
    return (
      <>
        <Notice>{texts.confirmInWallet(amount)}</Notice>
        {otherAccount !== undefined && (
          <Notice tone="warn">{texts.otherAccount(truncateMiddle(otherAccount))}</Notice>
        )}
        <div className={uiStyles["row"]}>{closeButton}</div>
      </>
    );
  }
  if (transactionId !== undefined) {
    return (
      <>
        <Notice tone={isRecording ? "plain" : "warn"}>
          {isRecording ? texts.recording : texts.notRecorded}
        </Notice>
        <Copyable text={transactionId} copyLabel={linkTexts.copyId}>
          <TruncatedCode text={transactionId} />
        </Copyable>
        <div className={uiStyles["row"]}>
          {closeButton}
          <AsyncButton variant="primary" onPress={() => onRecord({ ...pending, transactionId })}>
            {texts.record}
          </AsyncButton>
        </div>
      </>
    );
  }
  return <UnconfirmedRefund {...props} pending={pending} amount={amount} />;
};

/** A refund that the wallet may have sent. */
const UnconfirmedRefund = ({
  pending,
  amount,
  target: { paymentId },
  onRecord,
  onClose,
}: ViewProps & { pending: PendingRefund; amount: string }) => {
  const [isConfirming, setConfirming] = useState(false);
  const { candidateId = "", destinationAddress, uri } = pending;
  return (
    <>
      {uri === undefined ? (
        <Notice tone="warn">{texts.maybeSent(amount, truncateMiddle(destinationAddress))}</Notice>
      ) : (
        <>
          <p>
            <strong>{texts.amountTo(amount, truncateMiddle(destinationAddress))}</strong>
            <br />
            {texts.payByRequest}
          </p>
          <QrCode text={uri} label={texts.requestQr} />
          <div>
            <ButtonAnchor href={uri}>{texts.openApp}</ButtonAnchor>
          </div>
        </>
      )}
      <Form
        submitLabel={texts.record}
        cancelButton={<Button onPress={onClose}>{texts.close}</Button>}
        onSubmit={({ transactionId = "" }) => onRecord({ ...pending, transactionId })}
      >
        <Field
          name="transactionId"
          label={texts.transactionId}
          defaultValue={candidateId}
          isRequired
          maxLength={200}
        />
      </Form>
      <div>
        <Button variant="quiet" onPress={() => setConfirming(true)}>
          {texts.notSent}
        </Button>
      </div>
      {isConfirming && (
        <ConfirmDialog
          title={texts.notSentTitle}
          confirmLabel={texts.notSentConfirm}
          onConfirm={async () => clearPendingRefund(paymentId)}
          onClose={() => setConfirming(false)}
        >
          {texts.notSentText}
        </ConfirmDialog>
      )}
    </>
  );
};
