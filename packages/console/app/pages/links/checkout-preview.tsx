import type { OwnWallet } from "../../api/operations.ts";
import { useAccount } from "../../frame/session.ts";
import { formatTokenAmount } from "../../ui/token-amount.ts";
import uiStyles from "../../ui/ui.module.css";
import styles from "./links.module.css";
import { texts } from "./texts.ts";

/** What the payer will see. `amount` is undefined while it is not valid. */
export const CheckoutPreview = ({
  wallet,
  amount,
  description,
}: {
  wallet: OwnWallet;
  amount: string | undefined;
  description: string;
}) => {
  const { username } = useAccount();
  const { token } = wallet.token;
  const amountText = formatTokenAmount(amount ?? "0", token);
  return (
    <section className={styles["preview"]} aria-label={texts.preview}>
      <h2>{texts.preview}</h2>
      <div className={styles["previewPage"]}>
        <bdi className={styles["previewShop"]}>{username}</bdi>
        <p className={styles["previewAmount"]} data-empty={amount === undefined}>
          {amountText}
        </p>
        {description !== "" && <bdi className={styles["previewDescription"]}>{description}</bdi>}
        <p className={uiStyles["quiet"]}>{texts.onNetwork(token.chain.name)}</p>
        <span className={styles["previewButton"]} aria-hidden="true">
          {texts.pay(amountText)}
        </span>
      </div>
    </section>
  );
};
