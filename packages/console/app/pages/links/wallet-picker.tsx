import { useState } from "react";
import { Link } from "react-router";
import type { OwnWallet } from "../../api/operations.ts";
import { useOperationMutation } from "../../api/query.ts";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { Select } from "../../ui/field.tsx";
import { formatDateTime, truncateMiddle } from "../../ui/format.ts";
import uiStyles from "../../ui/ui.module.css";
import styles from "./links.module.css";
import { texts } from "./texts.ts";

/**
 * The wallet that receives the payments of new links. No call can choose the destination of a single
 * link, so another choice changes the default wallet after a confirmation.
 */
export const WalletPicker = ({
  wallet,
  wallets,
}: {
  wallet: OwnWallet;
  wallets: readonly OwnWallet[];
}) => {
  const [chosenId, setChosenId] = useState<string>();
  const changeWallet = useOperationMutation("changeWallet", "listWallets");
  const chosen = wallets.find(({ id }) => id === chosenId);
  const pending = wallets.find(({ defaultAt }) => defaultAt !== null);
  return (
    <div className={styles["wallet"]}>
      <Select
        label={texts.wallet}
        value={wallet.id}
        onValueChange={setChosenId}
        options={wallets.map((option) => ({ value: option.id, text: describeWallet(option) }))}
      />
      {wallet.firstAddresses !== null && <p className={uiStyles["hint"]}>{texts.uniqueAddress}</p>}
      {pending?.defaultAt !== undefined && pending.defaultAt !== null && (
        <p className={uiStyles["hint"]}>
          {texts.walletPending(describeWallet(pending), formatDateTime(pending.defaultAt))}
        </p>
      )}
      <Link className={styles["hintLink"]} to="/account/wallets">
        {texts.manageWallets}
      </Link>
      {chosen !== undefined && (
        <ConfirmDialog
          title={texts.changeWalletTitle}
          confirmLabel={texts.changeWallet}
          confirmVariant="primary"
          onConfirm={() =>
            changeWallet.mutateAsync({ path: { id: chosen.id }, body: { isDefault: true } })
          }
          onClose={() => setChosenId(undefined)}
        >
          {texts.changeWalletText(describeWallet(chosen))}
        </ConfirmDialog>
      )}
    </div>
  );
};

const describeWallet = ({ token: { token }, walletAddress }: OwnWallet): string =>
  `${token.symbol} · ${token.chain.name} · ${truncateMiddle(walletAddress)}`;
