import { Button } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Card } from "../../ui/page.tsx";
import { QrCode } from "../../ui/qr-code.tsx";
import styles from "../../ui/ui.module.css";
import { texts } from "./texts.ts";

/** The ways to send a link to a payer. */
export const ShareCard = ({ url }: { url: string }) => (
  <Card title={texts.share}>
    <p className={styles["quiet"]}>{texts.shareHint}</p>
    <code>{url}</code>
    <QrCode text={url} label={texts.qr(url)} />
    <div className={styles["row"]}>
      <CopyButton text={url} label={texts.copyLink} />
      {"share" in navigator && (
        <Button onPress={() => void navigator.share({ url }).catch(() => undefined)}>
          {texts.shareWithApp}
        </Button>
      )}
      <a className={styles["button"]} href={url} target="_blank" rel="noopener">
        {texts.openCheckoutPage}
      </a>
    </div>
  </Card>
);
