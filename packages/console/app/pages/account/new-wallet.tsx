import { chevronDown } from "@payment-links/design/icons";
import { useEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";
import type { CatalogueEntry } from "../../api/operations.ts";
import { useOperationQuery, useOperationMutation } from "../../api/query.ts";
import { isOfMode } from "../../mode.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Checkbox, Field } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Notice } from "../../ui/notice.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { settlementChains } from "../../ui/settlement-chains.ts";
import { texts as uiTexts } from "../../ui/texts.ts";
import styles from "../../ui/ui.module.css";
import accountStyles from "./account.module.css";
import { groupAddress } from "./group-address.ts";
import {
  isInvalidAddress,
  mayBeExtendedPublicKey,
  selectDefaultToken,
} from "./select-default-token.ts";
import { texts as allTexts } from "./texts.ts";

const texts = allTexts.wallets;

/**
 * Adds a wallet address with its settlement token. Shows the address again before it is saved,
 * because payments to a wrong address are lost.
 */
export const NewWalletDialog = ({ onClose }: { onClose: () => void }) => {
  const tokens = useOperationQuery("listTokens", {});
  const [isChecking, setChecking] = useState(false);
  return (
    <Dialog title={isChecking ? texts.checkTitle : texts.add} onClose={onClose}>
      <QueryView query={tokens}>
        {({ data }) => (
          <WalletForm
            tokens={data.filter(isOfMode)}
            isChecking={isChecking}
            setChecking={setChecking}
            onClose={onClose}
          />
        )}
      </QueryView>
    </Dialog>
  );
};

type FormProps = {
  tokens: readonly CatalogueEntry[];
  isChecking: boolean;
  setChecking: (isChecking: boolean) => void;
  onClose: () => void;
};

const WalletForm = ({ tokens, isChecking, setChecking, onClose }: FormProps) => {
  const [tokenId, setTokenId] = useState(
    () => selectDefaultToken(tokens, settlementChains)?.id ?? "",
  );
  const [address, setAddress] = useState("");
  const [isDefault, setDefault] = useState(true);
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
  const add = async (): Promise<void> => {
    const body = { walletAddress: address.trim(), tokenId, isDefault };
    try {
      await addWallet.mutateAsync({
        body: needsKey ? { ...body, firstAddressIndex: Number(firstAddressIndex.value) } : body,
      });
    } catch (error) {
      // The form focuses the field that the error is about, so the field must be visible.
      flushSync(() => setChecking(false));
      throw error;
    }
    onClose();
  };
  return (
    <Form
      submitLabel={isChecking ? texts.add : texts.continue}
      onSubmit={isChecking ? add : async () => setChecking(true)}
      cancelButton={
        isChecking ? (
          <Button onPress={() => setChecking(false)}>{texts.back}</Button>
        ) : (
          <Button onPress={onClose}>{uiTexts.cancel}</Button>
        )
      }
    >
      <div hidden={isChecking}>
        <div className={styles["stack"]}>
          <TokenSelect tokens={tokens} tokenId={tokenId} onChange={setTokenId} />
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
          <Checkbox label={texts.makeDefault} checked={isDefault} onCheckedChange={setDefault} />
        </div>
      </div>
      {isChecking && <AddressCheck address={address.trim()} entry={selectedToken} />}
    </Form>
  );
};

type AddressCheckProps = { address: string; entry: CatalogueEntry | undefined };

/** The address in large groups, for comparison with the one in the wallet. */
const AddressCheck = ({ address, entry }: AddressCheckProps) => {
  const groups = useRef<HTMLParagraphElement>(null);
  // The button that had the focus is disabled for a moment.
  useEffect(() => groups.current?.focus(), []);
  return (
    <>
      <p>{texts.checkText}</p>
      <p className={accountStyles["groups"]} ref={groups} tabIndex={-1}>
        {groupAddress(address).map((group, index) => (
          // oxlint-disable-next-line react/no-array-index-key -- Groups can be equal, and the address does not change here.
          <span key={index}>{group}</span>
        ))}
      </p>
      {entry !== undefined && <p className={styles["quiet"]}>{formatToken(entry)}</p>}
    </>
  );
};

const formatToken = ({ token: { symbol, chain } }: CatalogueEntry): string =>
  `${symbol} · ${chain.name}`;

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

type TokenSelectProps = {
  tokens: readonly CatalogueEntry[];
  tokenId: string;
  onChange: (tokenId: string) => void;
};

const TokenSelect = ({ tokens, tokenId, onChange }: TokenSelectProps) => (
  <label className={styles["field"]}>
    <span className={styles["label"]}>{texts.token}</span>
    <span className={styles["select"]}>
      <select
        className={styles["input"]}
        name="tokenId"
        required
        value={tokenId}
        onChange={(event) => onChange(event.target.value)}
      >
        {tokenId === "" && <option value="" />}
        <TokenOptions title={texts.supportedChains} tokens={tokens.filter(isPayable)} />
        <TokenOptions
          title={texts.otherChains}
          tokens={tokens.filter((entry) => !isPayable(entry))}
        />
      </select>
      <Icon node={chevronDown} />
    </span>
  </label>
);

const TokenOptions = ({ title, tokens }: { title: string; tokens: readonly CatalogueEntry[] }) =>
  tokens.length === 0 ? null : (
    <optgroup label={title}>
      {tokens.map((entry) => (
        <option key={entry.id} value={entry.id}>
          {formatToken(entry)}
        </option>
      ))}
    </optgroup>
  );
