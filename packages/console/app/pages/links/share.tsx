import { Button } from "../../ui/button.tsx";
import { Copy } from "../../ui/copy.tsx";
import { Card } from "../../ui/page.tsx";
import { Qr } from "../../ui/qr.tsx";
import styles from "../../ui/ui.module.css";
import { texts } from "./texts.ts";

/** The ways to hand a link to whoever shall pay. */
export const Share = ({ url }: { url: string }) => (
  <Card title={texts.share}>
    <p className={styles["quiet"]}>{texts.shareHint}</p>
    <code>{url}</code>
    <Qr text={url} label={texts.qr(url)} />
    <div className={styles["row"]}>
      <Copy text={url} label={texts.copyLink} />
      {"share" in navigator && (
        <Button onPress={() => void navigator.share({ url }).catch(() => undefined)}>
          {texts.shareBy}
        </Button>
      )}
      <a className={styles["button"]} href={url} target="_blank" rel="noopener">
        {texts.openPage}
      </a>
    </div>
  </Card>
);
