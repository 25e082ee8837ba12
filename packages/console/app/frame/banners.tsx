import { useEffect, useState } from "react";
import { Notice } from "../ui/notice.tsx";
import styles from "./frame.module.css";
import { texts } from "./texts.ts";

/** What holds for the whole page: that there is no connection. */
export const Banners = () => {
  const [isOnline, setOnline] = useState(navigator.onLine);
  useEffect(() => {
    const look = () => setOnline(navigator.onLine);
    addEventListener("online", look);
    addEventListener("offline", look);
    return () => {
      removeEventListener("online", look);
      removeEventListener("offline", look);
    };
  }, []);
  return (
    <div className={styles["banners"]} role="status">
      {!isOnline && <Notice tone="warn">{texts.offline}</Notice>}
    </div>
  );
};
