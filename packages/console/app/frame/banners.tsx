import { useEffect, useState } from "react";
import { Notice } from "../ui/notice.tsx";
import styles from "./frame.module.css";
import { texts } from "./texts.ts";

/** Shows page-wide messages. Currently this is only the offline message. */
export const Banners = () => {
  const [isOnline, setOnline] = useState(navigator.onLine);
  useEffect(() => {
    const updateOnlineState = () => setOnline(navigator.onLine);
    addEventListener("online", updateOnlineState);
    addEventListener("offline", updateOnlineState);
    return () => {
      removeEventListener("online", updateOnlineState);
      removeEventListener("offline", updateOnlineState);
    };
  }, []);
  return (
    <div className={styles["banners"]} role="status">
      {!isOnline && <Notice tone="warn">{texts.offline}</Notice>}
    </div>
  );
};
