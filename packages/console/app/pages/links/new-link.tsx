import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { useLocation, useNavigate } from "react-router";
import { callOperation } from "../../api/call.ts";
import { createIdempotencyKeys } from "../../api/idempotency-keys.ts";
import type { NewPaymentLink, OwnWallet } from "../../api/operations.ts";
import { invalidateOperations, useOperationQuery } from "../../api/query.ts";
import { isOfMode, mode } from "../../mode.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { Field, Select } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { formatAmount } from "../../ui/format.ts";
import { Notice } from "../../ui/notice.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { CheckoutPreview } from "./checkout-preview.tsx";
import styles from "./links.module.css";
import { formatAmountInput, parseAmount } from "./parse-amount.ts";
import {
  type NewLinkError,
  expiryOptions,
  isShortExpiryOnBitcoin,
  parseNewLink,
} from "./parse-new-link.ts";
import { texts } from "./texts.ts";
import { WalletPicker } from "./wallet-picker.tsx";

const expiryTexts: Readonly<Record<(typeof expiryOptions)[number], string>> = {
  never: texts.expiryNever,
  1: texts.expiryDay,
  3: texts.expiryThree,
  7: texts.expiryWeek,
  30: texts.expiryMonth,
  date: texts.expiryDate,
};

/** The form for a new link, next to a preview. It is prefilled when the user duplicates a link. */
const NewLink = () => {
  const walletList = useOperationQuery("listWallets", {});
  return (
    <Page title={texts.newTitle} back={{ to: "/links", label: texts.title }}>
      <QueryView query={walletList} placeholder={<Skeleton height="28rem" />}>
        {({ data }) => {
          const wallets = data.filter(isOfMode);
          const wallet = wallets.find(({ isDefault }) => isDefault);
          return wallet === undefined ? (
            <NoWallet />
          ) : (
            <NewLinkForm wallet={wallet} wallets={wallets} />
          );
        }}
      </QueryView>
    </Page>
  );
};
export default NewLink;

const NoWallet = () => (
  <Card>
    <p>{mode === "test" ? texts.accountNotReadyTest : texts.accountNotReady}</p>
    <div>
      <ButtonLink to="/" variant="primary">
        {texts.continueSetup}
      </ButtonLink>
    </div>
  </Card>
);

type WalletProps = { wallet: OwnWallet; wallets: readonly OwnWallet[] };

const NewLinkForm = ({ wallet, wallets }: WalletProps) => {
  const initialValues = (useLocation().state ?? {}) as Partial<NewPaymentLink>;
  const [description, setDescription] = useState(initialValues.description ?? "");
  const { create, formError, clearError } = useCreateLink(wallet);
  const { symbol } = wallet.token.token;
  const [amountInput, setAmountInput] = useState(() =>
    formatAmountInput(String(initialValues.toAmount ?? ""), symbol),
  );
  const amount = parseAmount(amountInput, symbol);
  const isReformatted = amount !== undefined && amount !== amountInput.trim();
  return (
    <div className={styles["create"]}>
      <Card>
        <Form submitLabel={texts.createLink} onSubmit={create}>
          <Field
            name="toAmount"
            label={texts.amount}
            unit={symbol}
            value={amountInput}
            onChange={(value) => {
              setAmountInput(value);
              clearError();
            }}
            hint={texts.amountHint(symbol, isReformatted ? formatAmount(amount) : undefined)}
            errorMessage={formError === "badAmount" ? texts.badAmount : undefined}
            isRequired
            inputProps={{ inputMode: "decimal" }}
          />
          <Field
            name="description"
            label={texts.description}
            hint={texts.descriptionHint}
            maxLength={500}
            rows={2}
            value={description}
            onChange={setDescription}
          />
          <WalletPicker wallet={wallet} wallets={wallets} />
          <MoreOptions
            isOnBitcoin={wallet.firstAddresses !== null}
            maxUsage={initialValues.maxUsage ?? undefined}
            formError={formError}
            onEdit={clearError}
          />
        </Form>
      </Card>
      <CheckoutPreview wallet={wallet} amount={amount} description={description.trim()} />
    </div>
  );
};

/** Returns the function that creates the link and opens it, and the error of the last attempt. */
const useCreateLink = (wallet: OwnWallet) => {
  const navigate = useNavigate();
  const client = useQueryClient();
  const idempotencyKeys = useRef(createIdempotencyKeys());
  const submitted = useRef<{ serializedFields: string; newLink: NewPaymentLink } | undefined>(
    undefined,
  );
  const [formError, setFormError] = useState<NewLinkError>();
  const create = async (fields: Readonly<Record<string, string>>): Promise<void> => {
    // "In 3 days" is resolved only once, so that a repeated submit sends the same body.
    const serializedFields = JSON.stringify(fields);
    if (submitted.current?.serializedFields !== serializedFields) {
      const newLink = parseNewLink(fields, wallet.token.token.symbol, new Date());
      setFormError(typeof newLink === "string" ? newLink : undefined);
      if (typeof newLink === "string") return;
      submitted.current = { serializedFields, newLink };
    }
    const { newLink } = submitted.current;
    const header = { "Idempotency-Key": idempotencyKeys.current.keyFor(newLink) };
    const { id } = await callOperation("createOwnPaymentLink", {
      query: { mode },
      header,
      body: newLink,
    });
    await invalidateOperations(client, ["listOwnPaymentLinks"]);
    await navigate(`/links/${id}`, { replace: true, state: { isNew: true } });
  };
  return { create, formError, clearError: () => setFormError(undefined) };
};

type OptionsProps = {
  isOnBitcoin: boolean;
  maxUsage: number | undefined;
  formError: NewLinkError | undefined;
  /** Clears the error, because the edited value may now be valid. */
  onEdit: () => void;
};

/** The options that most links do not need. An invalid option opens them. */
const MoreOptions = ({ isOnBitcoin, maxUsage, formError, onEdit }: OptionsProps) => {
  const [isOpen, setOpen] = useState(maxUsage !== undefined);
  const [expiry, setExpiry] = useState("never");
  const [isShortExpiry, setShortExpiry] = useState(false);
  return (
    <details
      className={styles["options"]}
      open={isOpen}
      onToggle={(event) => setOpen(event.currentTarget.open)}
      onInvalidCapture={() => setOpen(true)}
    >
      <summary>{texts.moreOptions}</summary>
      <div className={styles["optionFields"]}>
        <Select
          name="expiry"
          label={texts.expiry}
          value={expiry}
          onValueChange={setExpiry}
          options={expiryOptions.map((value) => ({ value, text: expiryTexts[value] }))}
        />
        {expiry === "date" && (
          <Field
            name="expiresAt"
            label={texts.expiryAt}
            isRequired
            errorMessage={formError === "pastDate" ? texts.pastDate : undefined}
            onChange={(expiresAt) => {
              setShortExpiry(isShortExpiryOnBitcoin(expiresAt, new Date()));
              onEdit();
            }}
            inputProps={{ type: "datetime-local" }}
          />
        )}
        {isOnBitcoin && expiry === "date" && isShortExpiry && (
          <Notice tone="warn">{texts.shortOnBitcoin}</Notice>
        )}
        <Field
          name="maxUsage"
          label={texts.maxUsage}
          hint={texts.maxUsageHint}
          type="number"
          defaultValue={String(maxUsage ?? "")}
          inputProps={{ min: 1, max: 2_147_483_647, step: 1 }}
        />
      </div>
    </details>
  );
};
