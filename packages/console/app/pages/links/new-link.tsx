import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { Link, useLocation, useNavigate } from "react-router";
import { callOperation } from "../../api/call.ts";
import { createIdempotencyKeys } from "../../api/idempotency-keys.ts";
import type { NewPaymentLink, OwnWallet } from "../../api/operations.ts";
import { invalidateOperations, useOperationQuery } from "../../api/query.ts";
import { Field, Select } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { formatAmount, truncateMiddle } from "../../ui/format.ts";
import { QueryView } from "../../ui/query-view.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Card, Page } from "../../ui/page.tsx";
import styles from "../../ui/ui.module.css";
import { parseAmount } from "./parse-amount.ts";
import {
  type NewLinkError,
  expiryOptions,
  isShortExpiryOnBitcoin,
  parseNewLink,
} from "./parse-new-link.ts";
import { texts } from "./texts.ts";

const expiryTexts: Readonly<Record<(typeof expiryOptions)[number], string>> = {
  never: texts.expiryNever,
  1: texts.expiryDay,
  3: texts.expiryThree,
  7: texts.expiryWeek,
  30: texts.expiryMonth,
  date: texts.expiryDate,
};

/** The form for a new link. It is prefilled when the user duplicates a link. */
const NewLink = () => {
  const wallets = useOperationQuery("listWallets", {});
  return (
    <Page title={texts.newTitle}>
      <Card>
        <QueryView query={wallets}>
          {({ data }) => {
            const wallet = data.find(({ isDefault }) => isDefault);
            return wallet === undefined ? <NoWallet /> : <NewLinkForm wallet={wallet} />;
          }}
        </QueryView>
      </Card>
    </Page>
  );
};
export default NewLink;

const NoWallet = () => (
  <p>
    {texts.accountNotReady} <Link to="/">{texts.continueSetup}</Link>
  </p>
);

const NewLinkForm = ({ wallet }: { wallet: OwnWallet }) => {
  const initialValues = (useLocation().state ?? {}) as Partial<NewPaymentLink>;
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
    const { id } = await callOperation("createOwnPaymentLink", { header, body: newLink });
    await invalidateOperations(client, ["listOwnPaymentLinks"]);
    await navigate(`/links/${id}`, { replace: true });
  };
  return (
    <Form submitLabel={texts.createLink} onSubmit={create}>
      <TermsFields
        wallet={wallet}
        initialValues={initialValues}
        formError={formError}
        onEdit={() => setFormError(undefined)}
      />
      <ExpiryFields wallet={wallet} formError={formError} onEdit={() => setFormError(undefined)} />
    </Form>
  );
};

type TermsProps = {
  wallet: OwnWallet;
  initialValues: Partial<NewPaymentLink>;
  formError: NewLinkError | undefined;
  /** Clears the error, because the edited value may now be valid. */
  onEdit: () => void;
};

const TermsFields = ({ wallet, initialValues, formError, onEdit }: TermsProps) => {
  const { symbol, chain } = wallet.token.token;
  const [input, setInput] = useState("");
  const amount = parseAmount(input, symbol);
  const isReformatted = amount !== undefined && amount !== input.trim();
  return (
    <>
      <Field
        name="toAmount"
        label={texts.amount}
        hint={texts.amountHint(symbol, isReformatted ? formatAmount(amount) : undefined)}
        isRequired
        defaultValue={initialValues.toAmount === undefined ? "" : String(initialValues.toAmount)}
        errorMessage={formError === "badAmount" ? texts.badAmount : undefined}
        onChange={(value) => {
          setInput(value);
          onEdit();
        }}
        inputProps={{ inputMode: "decimal" }}
      />
      <p className={styles["small"]}>
        {texts.settlementToken} {symbol} {texts.onChain} {chain.name}, {texts.settlementAddress}{" "}
        {wallet.firstAddresses === null ? (
          <code>{truncateMiddle(wallet.walletAddress)}</code>
        ) : (
          texts.uniqueAddress
        )}
        . <Link to="/account/wallets">{texts.changeWallet}</Link>
      </p>
      <Field
        name="description"
        label={texts.description}
        hint={texts.descriptionHint}
        maxLength={500}
        rows={3}
        defaultValue={initialValues.description ?? ""}
      />
      <Field
        name="maxUsage"
        label={texts.maxUsage}
        hint={texts.maxUsageHint}
        type="number"
        defaultValue={String(initialValues.maxUsage ?? "")}
        inputProps={{ min: 1, max: 2_147_483_647, step: 1 }}
      />
    </>
  );
};

const ExpiryFields = ({ wallet, formError, onEdit }: Omit<TermsProps, "initialValues">) => {
  const [expiry, setExpiry] = useState("never");
  const [isShortExpiry, setShortExpiry] = useState(false);
  const isOnBitcoin = wallet.firstAddresses !== null;
  return (
    <>
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
    </>
  );
};
