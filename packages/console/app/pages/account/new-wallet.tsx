import { useState } from "react";
import type { CatalogueEntry } from "../../api/operations.ts";
import { useOperationQuery, useOperationMutation } from "../../api/query.ts";
import { Checkbox, Field } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { Notice } from "../../ui/notice.tsx";
import { settlementChains } from "../../ui/settlement-chains.ts";
import styles from "../../ui/ui.module.css";
import {
  isInvalidAddress,
  mayBeExtendedPublicKey,
  selectDefaultToken,
} from "./select-default-token.ts";
import { texts as allTexts } from "./texts.ts";

const texts = allTexts.wallets;

/** The form that adds a wallet address with its settlement token. */
export const NewWallet = () => {
  const tokens = useOperationQuery("listTokens", {});
  return <QueryView query={tokens}>{({ data }) => <WalletForm tokens={data} />}</QueryView>;
};

const WalletForm = ({ tokens }: { tokens: readonly CatalogueEntry[] }) => {
  const [tokenId, setTokenId] = useState(
    () => selectDefaultToken(tokens, settlementChains)?.id ?? "",
  );
  const [address, setAddress] = useState("");
  const addWallet = useOperationMutation(
    "addWallet",
    "listWallets",
    "getSession",
    "listOwnPaymentLinks",
  );
  const selectedToken = tokens.find(({ id }) => id === tokenId);
  const isInvalid = isInvalidAddress(address, selectedToken);
  const needsKey = selectedToken?.walletForm === "key";
  const firstAddressIndex = useFirstAddressIndex(address, tokenId, needsKey);
  const isSupportedChain =
    selectedToken === undefined || settlementChains.has(selectedToken.token.chain.id);
  return (
    <Form
      submitLabel={texts.add}
      onSubmit={async (_fields, formData) => {
        const isDefault = formData.get("isDefault") === "on";
        const body = { walletAddress: address.trim(), tokenId, isDefault };
        await addWallet.mutateAsync({
          body: needsKey ? { ...body, firstAddressIndex: Number(firstAddressIndex.value) } : body,
        });
        setAddress("");
        firstAddressIndex.setInput(undefined);
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
          <TokenOptions title={texts.supportedChains} tokens={tokens.filter(isPayable)} />
          <TokenOptions
            title={texts.otherChains}
            tokens={tokens.filter((entry) => !isPayable(entry))}
          />
        </select>
      </label>
      {!isSupportedChain && <Notice tone="warn">{texts.unsupportedChain}</Notice>}
      <Field
        name="walletAddress"
        label={texts.address}
        hint={needsKey ? texts.keyHint : texts.addressHint}
        isRequired
        value={address}
        onChange={setAddress}
        errorMessage={isInvalid ? texts.invalidAddress : undefined}
        inputProps={{ spellCheck: false }}
      />
      {needsKey && <FirstAddressIndexField firstAddressIndex={firstAddressIndex} />}
      <Checkbox name="isDefault" label={texts.makeDefault} defaultChecked />
    </Form>
  );
};

type FirstAddressIndexState = {
  value: string;
  isChecked: boolean;
  setInput: (input: string | undefined) => void;
};

/**
 * Returns the index of the first address for links: the typed value, or the suggested one if
 * nothing was typed.
 */
const useFirstAddressIndex = (
  address: string,
  tokenId: string,
  needsKey: boolean,
): FirstAddressIndexState => {
  const [input, setInput] = useState<string>();
  const isEnabled = needsKey && mayBeExtendedPublicKey(address);
  const body = { walletAddress: address.trim(), tokenId };
  const { data, isError } = useOperationQuery("suggestFirstAddressIndex", { body }, { isEnabled });
  const suggestion = isEnabled ? data : undefined;
  return {
    value: input ?? String(suggestion?.firstAddressIndex ?? ""),
    isChecked: !(isEnabled && isError) && (suggestion?.isChecked ?? true),
    setInput,
  };
};

const FirstAddressIndexField = ({
  firstAddressIndex: { value, isChecked, setInput },
}: {
  firstAddressIndex: FirstAddressIndexState;
}) => (
  <>
    <Notice>{texts.separateAccountHint}</Notice>
    <Field
      name="firstAddressIndex"
      label={texts.firstIndex}
      hint={
        isChecked ? texts.firstIndexHint : `${texts.firstIndexHint} ${texts.firstIndexUnchecked}`
      }
      isRequired
      type="number"
      value={value}
      onChange={setInput}
      inputProps={{ min: 0, max: 1_000_000, step: 1 }}
    />
  </>
);

const isPayable = ({ token }: CatalogueEntry): boolean => settlementChains.has(token.chain.id);

const TokenOptions = ({ title, tokens }: { title: string; tokens: readonly CatalogueEntry[] }) =>
  tokens.length === 0 ? null : (
    <optgroup label={title}>
      {tokens.map(({ id, token }) => (
        <option key={id} value={id}>
          {token.symbol} · {token.chain.name}
        </option>
      ))}
    </optgroup>
  );
