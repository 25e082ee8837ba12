import { useState } from "react";
import type { OwnWallet } from "../../api/operations.ts";
import { useCall, useChange } from "../../api/query.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { Action } from "../../ui/form.tsx";
import { showTime } from "../../ui/format.ts";
import { Loaded } from "../../ui/loaded.tsx";
import { Card } from "../../ui/page.tsx";
import { Table } from "../../ui/table.tsx";
import styles from "../../ui/ui.module.css";
import { NewWallet } from "./new-wallet.tsx";
import { texts as allTexts } from "./texts.ts";

const texts = allTexts.wallets;

/** The addresses at which the account is paid, and which of them new links take. */
const Wallets = () => {
  const wallets = useCall("listWallets", {});
  return (
    <>
      <Card title={allTexts.parts.wallets}>
        <p className={styles["quiet"]}>{texts.intro}</p>
        <Loaded query={wallets}>{({ data }) => <WalletTable wallets={data} />}</Loaded>
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
    none={texts.none}
    columns={[
      [texts.address, (wallet) => <Address wallet={wallet} />],
      [texts.token, ({ token: { token } }) => `${token.symbol} · ${token.chain.name}`],
      [texts.default, (wallet) => <Defaults wallet={wallet} />],
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
        <p>{texts.linksFrom(String(firstAddressIndex ?? 0))}</p>
      </details>
    )}
  </>
);

const Defaults = ({ wallet }: { wallet: OwnWallet }) => (
  <div className={styles["row"]}>
    {wallet.isDefault && <Badge tone="good">{texts.isDefault}</Badge>}
    {wallet.isChainDefault && (
      <Badge tone="quiet">{texts.isChainDefault(wallet.token.token.chain.name)}</Badge>
    )}
    {wallet.defaultAt !== null && (
      <Badge tone="warn">{texts.from(showTime(wallet.defaultAt))}</Badge>
    )}
  </div>
);

const WalletActions = ({ wallet }: { wallet: OwnWallet }) => {
  const [isAsking, setAsking] = useState(false);
  const change = useChange("changeWallet", "listWallets", "getSession");
  const remove = useChange("deleteWallet", "listWallets", "getSession");
  const path = { id: wallet.id };
  const chain = wallet.token.token.chain.name;
  const { isChainDefault, isDefault, defaultAt } = wallet;
  return (
    <div className={styles["row"]}>
      {!isDefault && (
        <Action
          onPress={() => change.mutateAsync({ path, body: { isDefault: defaultAt === null } })}
        >
          {defaultAt === null ? texts.make : texts.cancel}
        </Action>
      )}
      <Action
        onPress={() => change.mutateAsync({ path, body: { isChainDefault: !isChainDefault } })}
      >
        {isChainDefault ? texts.unmakeOnChain(chain) : texts.makeOnChain(chain)}
      </Action>
      <Button
        look="danger"
        onPress={() => setAsking(true)}
        label={`${texts.remove}: ${wallet.walletAddress}`}
      >
        {texts.remove}
      </Button>
      {isAsking && (
        <ConfirmDialog
          title={texts.removeTitle}
          confirm={texts.remove}
          onConfirm={() => remove.mutateAsync({ path })}
          onClose={() => setAsking(false)}
        >
          {texts.removeText}
        </ConfirmDialog>
      )}
    </div>
  );
};
