import { useState } from "react";
import type { OwnWallet } from "../../api/operations.ts";
import { useOperationQuery, useOperationMutation } from "../../api/query.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { AsyncButton } from "../../ui/form.tsx";
import { formatDateTime } from "../../ui/format.ts";
import { QueryView } from "../../ui/query-view.tsx";
import { Card } from "../../ui/page.tsx";
import { Table } from "../../ui/table.tsx";
import styles from "../../ui/ui.module.css";
import { NewWallet } from "./new-wallet.tsx";
import { texts as allTexts } from "./texts.ts";

const texts = allTexts.wallets;

/** The account's wallets, and which of them are the defaults for new links. */
const Wallets = () => {
  const wallets = useOperationQuery("listWallets", {});
  return (
    <>
      <Card title={allTexts.sections.wallets}>
        <p className={styles["quiet"]}>{texts.intro}</p>
        <QueryView query={wallets}>{({ data }) => <WalletTable wallets={data} />}</QueryView>
      </Card>
      <Card title={texts.addTitle}>
        <NewWallet />
      </Card>
    </>
  );
};
export default Wallets;

const WalletTable = ({ wallets }: { wallets: readonly OwnWallet[] }) => (
  <Table
    rows={wallets}
    emptyText={texts.empty}
    columns={[
      [texts.address, (wallet) => <Address wallet={wallet} />],
      [texts.token, ({ token: { token } }) => `${token.symbol} · ${token.chain.name}`],
      [texts.default, (wallet) => <DefaultBadges wallet={wallet} />],
      [texts.actions, (wallet) => <WalletActions wallet={wallet} />],
    ]}
  />
);

const Address = ({
  wallet: { walletAddress, firstAddresses, firstAddressIndex },
}: {
  wallet: OwnWallet;
}) => (
  <>
    <code>{walletAddress}</code>
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

const DefaultBadges = ({ wallet }: { wallet: OwnWallet }) => (
  <div className={styles["row"]}>
    {wallet.isDefault && <Badge tone="good">{texts.isDefault}</Badge>}
    {wallet.isChainDefault && (
      <Badge tone="quiet">{texts.isChainDefault(wallet.token.token.chain.name)}</Badge>
    )}
    {wallet.defaultAt !== null && (
      <Badge tone="warn">{texts.defaultFrom(formatDateTime(wallet.defaultAt))}</Badge>
    )}
  </div>
);

const WalletActions = ({ wallet }: { wallet: OwnWallet }) => {
  const [isConfirming, setConfirming] = useState(false);
  const changeWallet = useOperationMutation("changeWallet", "listWallets", "getSession");
  const deleteWallet = useOperationMutation("deleteWallet", "listWallets", "getSession");
  const path = { id: wallet.id };
  const chain = wallet.token.token.chain.name;
  const { isChainDefault, isDefault, defaultAt } = wallet;
  return (
    <div className={styles["row"]}>
      {!isDefault && (
        <AsyncButton
          onPress={() =>
            changeWallet.mutateAsync({ path, body: { isDefault: defaultAt === null } })
          }
        >
          {defaultAt === null ? texts.setDefault : texts.cancel}
        </AsyncButton>
      )}
      <AsyncButton
        onPress={() =>
          changeWallet.mutateAsync({ path, body: { isChainDefault: !isChainDefault } })
        }
      >
        {isChainDefault ? texts.unsetDefaultOnChain(chain) : texts.setDefaultOnChain(chain)}
      </AsyncButton>
      <Button
        variant="danger"
        onPress={() => setConfirming(true)}
        label={`${texts.remove}: ${wallet.walletAddress}`}
      >
        {texts.remove}
      </Button>
      {isConfirming && (
        <ConfirmDialog
          title={texts.removeTitle}
          confirmLabel={texts.remove}
          onConfirm={() => deleteWallet.mutateAsync({ path })}
          onClose={() => setConfirming(false)}
        >
          {texts.removeText}
        </ConfirmDialog>
      )}
    </div>
  );
};
