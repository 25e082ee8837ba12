import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { Link, useLocation, useNavigate } from "react-router";
import { call } from "../../api/call.ts";
import { createOnce } from "../../api/once.ts";
import type { NewPaymentLink, OwnWallet } from "../../api/operations.ts";
import { refresh, useCall } from "../../api/query.ts";
import { Field, Select } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { shorten } from "../../ui/format.ts";
import { Loaded } from "../../ui/loaded.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Card, Page } from "../../ui/page.tsx";
import styles from "../../ui/ui.module.css";
import { type OrderFault, expiries, isShortOnBitcoin, readOrder } from "./read-order.ts";
import { texts } from "./texts.ts";

const expiryTexts: Readonly<Record<(typeof expiries)[number], string>> = {
  never: texts.expiryNever,
  1: texts.expiryDay,
  3: texts.expiryThree,
  7: texts.expiryWeek,
  30: texts.expiryMonth,
  date: texts.expiryDate,
};

/** The form of a new link, filled in where the link is a duplicate. */
const NewLink = () => {
  const wallets = useCall("listWallets", {});
  return (
    <Page title={texts.newTitle}>
      <Card>
        <Loaded query={wallets}>
          {({ data }) => {
            const wallet = data.find(({ isDefault }) => isDefault);
            return wallet === undefined ? <NoWallet /> : <Order wallet={wallet} />;
          }}
        </Loaded>
      </Card>
    </Page>
  );
};
export default NewLink;

const NoWallet = () => (
  <p>
    {texts.notReady} <Link to="/">{texts.toSetup}</Link>
  </p>
);

const Order = ({ wallet }: { wallet: OwnWallet }) => {
  const given = (useLocation().state ?? {}) as Partial<NewPaymentLink>;
  const navigate = useNavigate();
  const client = useQueryClient();
  const once = useRef(createOnce());
  const drawn = useRef<{ typed: string; order: NewPaymentLink } | undefined>(undefined);
  const [fault, setFault] = useState<OrderFault>();
  const create = async (fields: Readonly<Record<string, string>>): Promise<void> => {
    // "In 3 days" is counted once, so that a repeat is the same order.
    const typed = JSON.stringify(fields);
    if (drawn.current?.typed !== typed) {
      const order = readOrder(fields, new Date());
      setFault(typeof order === "string" ? order : undefined);
      if (typeof order === "string") return;
      drawn.current = { typed, order };
    }
    const { order } = drawn.current;
    const header = { "Idempotency-Key": once.current.keyFor(order) };
    const { id } = await call("createOwnPaymentLink", { header, body: order });
    await refresh(client, ["listOwnPaymentLinks"]);
    await navigate(`/links/${id}`, { replace: true });
  };
  return (
    <Form submit={texts.createIt} onSubmit={create}>
      <Terms wallet={wallet} given={given} fault={fault} onTyped={() => setFault(undefined)} />
      <Expiry wallet={wallet} fault={fault} onTyped={() => setFault(undefined)} />
    </Form>
  );
};

type TermsProps = {
  wallet: OwnWallet;
  given: Partial<NewPaymentLink>;
  fault: OrderFault | undefined;
  /** What was wrong may be right by now. */
  onTyped: () => void;
};

const Terms = ({ wallet, given, fault, onTyped }: TermsProps) => {
  const { symbol, chain } = wallet.token.token;
  return (
    <>
      <Field
        name="toAmount"
        label={texts.amount}
        hint={texts.amountHint(symbol)}
        isRequired
        defaultValue={given.toAmount === undefined ? "" : String(given.toAmount)}
        fault={fault === "badAmount" ? texts.badAmount : undefined}
        onChange={onTyped}
        input={{ inputMode: "decimal" }}
      />
      <p className={styles["small"]}>
        {texts.settlesIn} {symbol} {texts.on} {chain.name}, {texts.settlesTo}{" "}
        {wallet.firstAddresses === null ? (
          <code>{shorten(wallet.walletAddress)}</code>
        ) : (
          texts.ownAddress
        )}
        . <Link to="/account/wallets">{texts.changeWallet}</Link>
      </p>
      <Field
        name="description"
        label={texts.description}
        hint={texts.descriptionHint}
        maxLength={500}
        rows={3}
        defaultValue={given.description ?? ""}
      />
      <Field
        name="maxUsage"
        label={texts.uses}
        hint={texts.usesHint}
        type="number"
        defaultValue={String(given.maxUsage ?? "")}
        input={{ min: 1, max: 2_147_483_647, step: 1 }}
      />
    </>
  );
};

const Expiry = ({ wallet, fault, onTyped }: Omit<TermsProps, "given">) => {
  const [expiry, setExpiry] = useState("never");
  const [isShort, setShort] = useState(false);
  const isOnBitcoin = wallet.chainType === "BVM";
  return (
    <>
      <Select
        name="expiry"
        label={texts.expiry}
        value={expiry}
        onPick={setExpiry}
        options={expiries.map((value) => ({ value, text: expiryTexts[value] }))}
      />
      {expiry === "date" && (
        <Field
          name="expiresAt"
          label={texts.expiryAt}
          isRequired
          fault={fault === "pastDate" ? texts.pastDate : undefined}
          onChange={(expiresAt) => {
            setShort(isShortOnBitcoin(expiresAt, new Date()));
            onTyped();
          }}
          input={{ type: "datetime-local" }}
        />
      )}
      {isOnBitcoin && expiry === "date" && isShort && (
        <Notice tone="warn">{texts.shortOnBitcoin}</Notice>
      )}
    </>
  );
};
