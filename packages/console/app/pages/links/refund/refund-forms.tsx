import { useState } from "react";
import type { TokenData } from "../../../api/operations.ts";
import { Button } from "../../../ui/button.tsx";
import { Field } from "../../../ui/field.tsx";
import { AsyncButton, Form } from "../../../ui/form.tsx";
import { truncateMiddle } from "../../../ui/format.ts";
import { Notice } from "../../../ui/notice.tsx";
import { texts as uiTexts } from "../../../ui/texts.ts";
import { formatTokenAmount } from "../../../ui/token-amount.ts";
import uiStyles from "../../../ui/ui.module.css";
import { formatAmountInput, parseAmount } from "../parse-amount.ts";
import { texts as linkTexts } from "../texts.ts";
import type { RefundWallet } from "./refund-wallet.ts";
import type { SentRefund } from "./send-refund.ts";
import { texts } from "./texts.ts";

/** What the user enters for a refund. */
export type RefundFields = { amount: string; destinationAddress: string };

type FieldsProps = {
  /** The initial values. */
  fields: RefundFields;
  sender: string | null;
  token: TokenData;
};

type SendProps = FieldsProps & {
  /** The sum of the refunds that are recorded for the payment. */
  refunded: string | undefined;
  walletFault: string | undefined;
  onSubmit: (fields: RefundFields) => Promise<void>;
  onRecordManually: () => void;
  onClose: () => void;
};

/** The form that asks a wallet to send a refund. */
export const SendRefundForm = ({
  refunded,
  walletFault,
  onSubmit,
  onRecordManually,
  onClose,
  ...fieldsProps
}: SendProps) => {
  const { isBadAmount, submit } = useParsedAmount(fieldsProps.token);
  return (
    <>
      {refunded !== undefined && (
        <Notice tone="warn">
          {texts.alreadyRefunded(formatTokenAmount(refunded, fieldsProps.token))}
        </Notice>
      )}
      <Form
        submitLabel={texts.openWallet}
        cancelButton={<Button onPress={onClose}>{uiTexts.cancel}</Button>}
        onSubmit={submit(({ amount, walletAddress = "" }) =>
          onSubmit({ amount, destinationAddress: walletAddress }),
        )}
      >
        <Fields {...fieldsProps} isBadAmount={isBadAmount} />
        <Notice tone="warn">{texts.confirmAddress}</Notice>
        {walletFault !== undefined && <Notice tone="bad">{walletFault}</Notice>}
      </Form>
      <div>
        <Button variant="quiet" onPress={onRecordManually}>
          {texts.recordManually}
        </Button>
      </div>
    </>
  );
};

/** The form that records a refund that another wallet has sent. */
export const ManualRefundForm = ({
  onBack,
  onSubmit,
  ...fieldsProps
}: FieldsProps & { onBack: () => void; onSubmit: (refund: SentRefund) => Promise<void> }) => {
  const { isBadAmount, submit } = useParsedAmount(fieldsProps.token);
  return (
    <>
      <p>{texts.recordText}</p>
      <Form
        submitLabel={texts.record}
        cancelButton={<Button onPress={onBack}>{texts.back}</Button>}
        onSubmit={submit(({ amount, walletAddress = "", transactionId = "" }) =>
          onSubmit({ amount, destinationAddress: walletAddress, transactionId }),
        )}
      >
        <Fields {...fieldsProps} isBadAmount={isBadAmount} />
        <Field name="transactionId" label={texts.transactionId} isRequired maxLength={200} />
      </Form>
    </>
  );
};

/** The wallets in this browser, if there are several. */
export const WalletChoice = ({
  wallets,
  onChoose,
  onBack,
}: {
  wallets: readonly RefundWallet[];
  onChoose: (wallet: RefundWallet) => Promise<void>;
  onBack: () => void;
}) => (
  <>
    {wallets.map((wallet) => (
      <AsyncButton key={wallet.id} onPress={() => onChoose(wallet)}>
        {wallet.name === "" ? texts.unnamedWallet : wallet.name}
      </AsyncButton>
    ))}
    <div className={uiStyles["row"]}>
      <Button onPress={onBack}>{texts.back}</Button>
    </div>
  </>
);

type ParsedFields = Readonly<Record<string, string>> & { amount: string };

/**
 * Parses the amount before a form is submitted. An invalid amount is shown at its field instead.
 */
const useParsedAmount = ({ symbol }: TokenData) => {
  const [isBadAmount, setBadAmount] = useState(false);
  const submit =
    (onSubmit: (fields: ParsedFields) => Promise<void>) =>
    async (fields: Readonly<Record<string, string>>): Promise<void> => {
      const amount = parseAmount(fields["amount"] ?? "", symbol);
      setBadAmount(amount === undefined);
      if (amount !== undefined) await onSubmit({ ...fields, amount });
    };
  return { isBadAmount, submit };
};

const Fields = ({ fields, isBadAmount, sender, token }: FieldsProps & { isBadAmount: boolean }) => (
  <>
    <p className={uiStyles["quiet"]}>{texts.tokenOnNetwork(token.symbol, token.chain.name)}</p>
    <Field
      name="amount"
      label={texts.amount}
      defaultValue={formatAmountInput(fields.amount, token.symbol)}
      errorMessage={isBadAmount ? linkTexts.badAmount : undefined}
      unit={token.symbol}
      isRequired
      inputProps={{ inputMode: "decimal" }}
    />
    <Field
      name="walletAddress"
      label={texts.address}
      defaultValue={fields.destinationAddress}
      hint={
        sender === null ? texts.addressMissing : `${texts.addressHint} ${truncateMiddle(sender)}`
      }
      isRequired
      maxLength={200}
      inputProps={{ spellCheck: false }}
    />
  </>
);
