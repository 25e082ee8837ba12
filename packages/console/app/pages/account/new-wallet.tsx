import { useState } from "react";
import type { CatalogueEntry } from "../../api/operations.ts";
import { useCall, useChange } from "../../api/query.ts";
import { Check, Field } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { Loaded } from "../../ui/loaded.tsx";
import { Notice } from "../../ui/notice.tsx";
import { settlementChains } from "../../ui/settlement-chains.ts";
import styles from "../../ui/ui.module.css";
import { isWrongAddress, mayBeKey, preselect } from "./choose-token.ts";
import { texts as allTexts } from "./texts.ts";

const texts = allTexts.wallets;

/** Adds an address at which the account is paid, in one token. */
export const NewWallet = () => {
  const tokens = useCall("listTokens", {});
  return <Loaded query={tokens}>{({ data }) => <WalletForm tokens={data} />}</Loaded>;
};

const WalletForm = ({ tokens }: { tokens: readonly CatalogueEntry[] }) => {
  const [tokenId, setTokenId] = useState(() => preselect(tokens, settlementChains)?.id ?? "");
  const [address, setAddress] = useState("");
  const add = useChange("addWallet", "listWallets", "getSession", "listOwnPaymentLinks");
  const chosen = tokens.find(({ id }) => id === tokenId);
  const isWrong = isWrongAddress(address, chosen);
  const isOnBitcoin = chosen?.token.chain.chainType === "BVM";
  const index = useFirstIndex(address, tokenId, isOnBitcoin);
  const isWatched = chosen === undefined || settlementChains.has(chosen.token.chain.id);
  return (
    <Form
      submit={texts.add}
      onSubmit={async (_fields, all) => {
        const isDefault = all.get("isDefault") === "on";
        const body = { walletAddress: address.trim(), tokenId, isDefault };
        await add.mutateAsync({
          body: isOnBitcoin ? { ...body, firstAddressIndex: Number(index.value) } : body,
        });
        setAddress("");
        index.change(undefined);
      }}
    >
      <label className={styles["field"]}>
        <span className={styles["label"]}>{texts.token}</span>
        <select
          className={styles["input"]}
          name="tokenId"
          required
          value={tokenId}
          onChange={(event) => setTokenId(event.target.value)}
        >
          {tokenId === "" && <option value="" />}
          <Options title={texts.watched} tokens={tokens.filter(isPayable)} />
          <Options title={texts.others} tokens={tokens.filter((entry) => !isPayable(entry))} />
        </select>
      </label>
      {!isWatched && <Notice tone="warn">{texts.notWatched}</Notice>}
      <Field
        name="walletAddress"
        label={texts.address}
        hint={isOnBitcoin ? texts.keyHint : texts.addressHint}
        isRequired
        value={address}
        onChange={setAddress}
        fault={isWrong ? texts.badAddress : undefined}
        input={{ spellCheck: false }}
      />
      {isOnBitcoin && <FirstIndex index={index} />}
      <Check name="isDefault" label={texts.asDefault} defaultChecked />
    </Form>
  );
};

type FirstIndexChoice = {
  value: string;
  isChecked: boolean;
  change: (typed: string | undefined) => void;
};

/** The first address that links get: as it was typed, or else as it is suggested. */
const useFirstIndex = (
  address: string,
  tokenId: string,
  isOnBitcoin: boolean,
): FirstIndexChoice => {
  const [typed, change] = useState<string>();
  const isWanted = isOnBitcoin && mayBeKey(address);
  const body = { walletAddress: address.trim(), tokenId };
  const { data, isError } = useCall("suggestFirstAddressIndex", { body }, { isWanted });
  const suggested = isWanted ? data : undefined;
  return {
    value: typed ?? String(suggested?.firstAddressIndex ?? ""),
    isChecked: !(isWanted && isError) && (suggested?.isChecked ?? true),
    change,
  };
};

const FirstIndex = ({ index: { value, isChecked, change } }: { index: FirstIndexChoice }) => (
  <>
    <Notice>{texts.ownAccount}</Notice>
    <Field
      name="firstAddressIndex"
      label={texts.firstIndex}
      hint={
        isChecked ? texts.firstIndexHint : `${texts.firstIndexHint} ${texts.firstIndexUnchecked}`
      }
      isRequired
      type="number"
      value={value}
      onChange={change}
      input={{ min: 0, max: 1_000_000, step: 1 }}
    />
  </>
);

const isPayable = ({ token }: CatalogueEntry): boolean => settlementChains.has(token.chain.id);

const Options = ({ title, tokens }: { title: string; tokens: readonly CatalogueEntry[] }) =>
  tokens.length === 0 ? null : (
    <optgroup label={title}>
      {tokens.map(({ id, token }) => (
        <option key={id} value={id}>
          {token.symbol} · {token.chain.name}
        </option>
      ))}
    </optgroup>
  );
