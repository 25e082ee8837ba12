import { flaskConical } from "@payment-links/design/icons";
import { useLocation } from "react-router";
import { buildModeUrl, mode } from "../mode.ts";
import { Icon } from "../ui/icon.tsx";
import styles from "./frame.module.css";
import { getListPath } from "./get-list-path.ts";
import { texts } from "./texts.ts";

const otherMode = mode === "live" ? "test" : "live";

/**
 * Returns the URL of this view in the other mode. The item that it shows exists only in this mode.
 */
const useOtherModeUrl = (): string => buildModeUrl(otherMode, getListPath(useLocation().pathname));

/** Switches between live and test mode. */
export const ModeSwitch = () => {
  const url = useOtherModeUrl();
  return (
    <button
      type="button"
      role="switch"
      aria-checked={mode === "test"}
      className={styles["modeSwitch"]}
      onClick={() => location.assign(url)}
    >
      <Icon node={flaskConical} />
      {texts.testMode}
      <span className={styles["switchTrack"]} />
    </button>
  );
};

/** Marks every view of the test mode. */
export const TestModeBanner = () => (
  <div className={styles["testMode"]}>
    <p>
      <strong>{texts.testMode}</strong> <span>{texts.noRealMoney}</span>
    </p>
    <a href={useOtherModeUrl()}>{texts.exitTestMode}</a>
  </div>
);
