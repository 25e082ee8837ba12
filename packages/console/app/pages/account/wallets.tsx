import { plus, wallet as walletIcon } from "@payment-links/design/icons";
import { useState } from "react";
import type { OwnWallet } from "../../api/operations.ts";
import { useOperationQuery, useOperationMutation } from "../../api/query.ts";
import { isOfMode, mode } from "../../mode.ts";
import { ActionMenu } from "../../ui/action-menu.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Copyable } from "../../ui/copyable.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { AsyncButton } from "../../ui/form.tsx";
import { formatDateTime, truncateMiddle } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { SkeletonTable } from "../../ui/skeleton.tsx";
import { Table } from "../../ui/table.tsx";
import styles from "../../ui/ui.module.css";
import { NewWalletDialog } from "./new-wallet.tsx";
import { texts as allTexts } from "./texts.ts";

const texts = allTexts.wallets;

/** The account's wallets, and which of them are the defaults for new links. */
const Wallets = () => {
  const wallets = useOperationQuery("listWallets", {});
  const [isAdding, setAdding] = useState(false);
  const addButton = (
    <Button variant="primary" icon={plus} onPress={() => setAdding(true)}>
      {texts.add}
    </Button>
  );
  return (
    <>
      <Card title={allTexts.sections.wallets} actions={addButton}>
        <p className={styles["quiet"]}>{mode === "test" ? texts.introTest : texts.intro}</p>
        <QueryView query={wallets} placeholder={<SkeletonTable rows={2} />}>
          {(list) => {
            const data = list.data.filter(isOfMode);
            return data.length === 0 ? (
              <EmptyState icon={walletIcon} title={texts.emptyTitle} action={addButton}>
                {mode === "test" ? texts.emptyTest : texts.empty}
              </EmptyState>
            ) : (
              <WalletTable wallets={data} />
            );
          }}
        </QueryView>
      </Card>
      {isAdding && <NewWalletDialog onClose={() => setAdding(false)} />}
    </>
  );
};
export default Wallets;

const WalletTable = ({ wallets }: { wallets: readonly OwnWallet[] }) => (
  <Table
    rows={wallets}
    columns={[
      [texts.address, (wallet) => <Address wallet={wallet} />],
      [texts.token, ({ token: { token } }) => `${token.symbol} · ${token.chain.name}`],
      [texts.default, (wallet) => <DefaultState wallet={wallet} />],
      [texts.actions, (wallet) => <WalletMenu wallet={wallet} />, "actions"],
    ]}
  />
);

/** Longer than any address. Keys and descriptors are longer. */
const addressLengthMax = 64;

const Address = ({
  wallet: { walletAddress, firstAddresses, firstAddressIndex },
}: {
  wallet: OwnWallet;
}) => (
  <>
    <Copyable text={walletAddress} copyLabel={texts.copyAddress(truncateMiddle(walletAddress))}>
      <code title={walletAddress}>
        {walletAddress.length > addressLengthMax ? truncateMiddle(walletAddress) : walletAddress}
      </code>
    </Copyable>
    {firstAddresses !== null && (
      <details>
        <summary>{texts.firstAddresses}</summary>
        <ol>
          {firstAddresses.map((address) => (
            <li key={address}>
              <code>{address}</code>
            </li>
          ))}
        </ol>
        <p>{texts.linksStartAtIndex(String(firstAddressIndex ?? 0))}</p>
      </details>
    )}
  </>
);

const DefaultState = ({ wallet }: { wallet: OwnWallet }) => {
  const { defaultAt, id, isChainDefault, isDefault } = wallet;
  const changeWallet = useOperationMutation("changeWallet", "listWallets", "getSession");
  const cancelChange = () => changeWallet.mutateAsync({ path: { id }, body: { isDefault: false } });
  return (
    <div className={styles["row"]}>
      {isDefault && <Badge tone="good">{texts.isDefault}</Badge>}
      {isChainDefault && (
        <Badge tone="quiet">{texts.isChainDefault(wallet.token.token.chain.name)}</Badge>
      )}
      {defaultAt !== null && (
        <>
          <Badge tone="warn">{texts.defaultFrom(formatDateTime(defaultAt))}</Badge>
          {!isDefault && <AsyncButton onPress={cancelChange}>{texts.cancel}</AsyncButton>}
        </>
      )}
    </div>
  );
};

const WalletMenu = ({ wallet }: { wallet: OwnWallet }) => {
  const [isConfirming, setConfirming] = useState(false);
  const changeWallet = useOperationMutation("changeWallet", "listWallets", "getSession");
  const deleteWallet = useOperationMutation("deleteWallet", "listWallets", "getSession");
  const { defaultAt, isChainDefault, isDefault, walletAddress } = wallet;
  const path = { id: wallet.id };
  const chain = wallet.token.token.chain.name;
  const setDefaultItem = {
    label: texts.setDefault,
    onAction: () => changeWallet.mutateAsync({ path, body: { isDefault: true } }),
  };
  return (
    <>
      <ActionMenu
        label={`${texts.actions}: ${truncateMiddle(walletAddress)}`}
        items={[
          ...(isDefault || defaultAt !== null ? [] : [setDefaultItem]),
          {
            label: isChainDefault
              ? texts.unsetDefaultOnChain(chain)
              : texts.setDefaultOnChain(chain),
            onAction: () =>
              changeWallet.mutateAsync({ path, body: { isChainDefault: !isChainDefault } }),
          },
          { label: texts.remove, tone: "danger", onAction: () => setConfirming(true) },
        ]}
      />
      {isConfirming && (
        <ConfirmDialog
          title={texts.removeTitle}
          confirmLabel={texts.remove}
          onConfirm={() => deleteWallet.mutateAsync({ path })}
          onClose={() => setConfirming(false)}
        >
          <div className={styles["stack"]}>
            <code>{walletAddress}</code>
            <p>{texts.removeText}</p>
          </div>
        </ConfirmDialog>
      )}
    </>
  );
};
