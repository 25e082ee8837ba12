import { search } from "@payment-links/design/icons";
import { useEffect, useState } from "react";
import { Icon } from "../ui/icon.tsx";
import { createLazyComponent } from "../ui/lazy-component.tsx";
import styles from "./frame.module.css";
import { texts } from "./texts.ts";

const SearchDialog = createLazyComponent(
  async () => ({ default: (await import("./search-dialog.tsx")).SearchDialog }),
  null,
);

const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** The button and the keyboard shortcut that open the search. */
export const Search = () => {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const openOnShortcut = (event: KeyboardEvent): void => {
      const isShortcut = event.key.toLowerCase() === "k" && (event.metaKey || event.ctrlKey);
      if (!isShortcut || event.altKey || event.shiftKey) return;
      event.preventDefault();
      // The search would open behind another dialog.
      if (document.querySelector("dialog:modal") === null) setOpen(true);
    };
    addEventListener("keydown", openOnShortcut);
    return () => removeEventListener("keydown", openOnShortcut);
  }, []);
  return (
    <>
      <button
        className={styles["searchButton"]}
        type="button"
        aria-haspopup="dialog"
        aria-keyshortcuts="Control+K Meta+K"
        onClick={() => setOpen(true)}
      >
        <Icon node={search} />
        <span>{texts.openSearch}</span>
        <kbd aria-hidden="true">{isMac ? "⌘K" : "Ctrl K"}</kbd>
      </button>
      {isOpen && <SearchDialog onClose={() => setOpen(false)} />}
    </>
  );
};
