import { download, externalLink, printer, share2 } from "@payment-links/design/icons";
import { mode } from "../../mode.ts";
import { Button } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Card } from "../../ui/page.tsx";
import { QrCode } from "../../ui/qr-code.tsx";
import uiStyles from "../../ui/ui.module.css";
import styles from "./links.module.css";
import { downloadQr } from "./qr-files.ts";
import { texts } from "./texts.ts";

/** The ways to send a link to a payer, or to show it. */
export const ShareCard = ({ url, amount }: { url: string; amount: string }) => (
  <Card title={texts.share}>
    <div className={styles["share"]}>
      <div className={styles["printed"]}>
        <QrCode text={url} label={texts.qr(url)} />
        <p className={styles["printedAmount"]}>{amount}</p>
      </div>
      <div className={uiStyles["stack"]}>
        <p className={uiStyles["quiet"]}>
          {mode === "test" ? (
            <>
              {texts.simulateHint} <a href="/docs/testing">{texts.readTestingGuide}</a>
            </>
          ) : (
            texts.shareHint
          )}
        </p>
        <code className={styles["url"]}>{url}</code>
        <div className={uiStyles["row"]}>
          <CopyButton text={url} label={texts.copyLink} variant="primary" hasVisibleLabel />
          {"share" in navigator && (
            <Button
              icon={share2}
              onPress={() => void navigator.share({ url }).catch(() => undefined)}
            >
              {texts.shareWithApp}
            </Button>
          )}
          <a className={uiStyles["button"]} href={url} target="_blank" rel="noopener">
            <Icon node={externalLink} />
            {texts.openCheckoutPage}
          </a>
        </div>
        <div className={uiStyles["row"]}>
          <span className={uiStyles["quiet"]}>{texts.qrCode}</span>
          {(["PNG", "SVG"] as const).map((format) => (
            <Button
              key={format}
              variant="quiet"
              icon={download}
              label={texts.downloadQr(format)}
              onPress={() => void downloadQr(url, format)}
            >
              {format}
            </Button>
          ))}
          <Button variant="quiet" icon={printer} onPress={printQr}>
            {texts.print}
          </Button>
        </div>
      </div>
    </div>
  </Card>
);

/** Prints the QR code alone. The stylesheet hides the rest of the page. */
const printQr = (): void => {
  const { dataset } = document.documentElement;
  dataset["print"] = "qr";
  addEventListener("afterprint", () => delete dataset["print"], { once: true });
  print();
};
