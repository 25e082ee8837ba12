import type { IconNode } from "@payment-links/design/icons";
import {
  type KeyboardEvent,
  type ReactNode,
  type ToggleEvent,
  useId,
  useRef,
  useState,
} from "react";
import { Link } from "react-router";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { suppressDoubleClick } from "./double-clicks.ts";
import { Icon } from "./icon.tsx";
import { ErrorNotice } from "./notice.tsx";
import { texts } from "./texts.ts";
import styles from "./ui.module.css";

/** An entry of a menu: an action, a link to a view, or a link that opens a new tab. */
export type MenuItem = { label: string; icon?: IconNode; tone?: "danger" } & (
  | { onAction: () => unknown }
  | { to: string }
  | { href: string }
);

type MenuProps = {
  /** The accessible name of the menu. */
  label: string;
  /** What the button shows. */
  trigger: ReactNode;
  /** The accessible name of the button, if it shows no text. */
  triggerLabel?: string;
  triggerClassName: string | undefined;
  header?: ReactNode;
  items: readonly MenuItem[];
};

const gapPx = 4;

/**
 * A button that opens a menu. The native popover closes on Escape and on a click outside, and the
 * elements around it never clip it. If an action fails, a dialog shows the error.
 */
export const Menu = ({
  label,
  trigger,
  triggerLabel,
  triggerClassName,
  header,
  items,
}: MenuProps) => {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const popover = useRef<HTMLDivElement>(null);
  const [failure, setFailure] = useState<{ title: string; error: unknown }>();
  const choose = async (item: MenuItem): Promise<void> => {
    popover.current?.hidePopover();
    button.current?.focus({ preventScroll: true });
    suppressDoubleClick();
    try {
      if ("onAction" in item) await item.onAction();
    } catch (error) {
      setFailure({ title: item.label, error });
    }
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        className={triggerClassName}
        aria-haspopup="menu"
        popoverTarget={id}
        {...(triggerLabel === undefined ? {} : { "aria-label": triggerLabel })}
      >
        {trigger}
      </button>
      <div
        ref={popover}
        id={id}
        popover="auto"
        className={styles["menu"]}
        onBeforeToggle={(event) => {
          if (isOpening(event) && button.current !== null)
            placeMenu(event.currentTarget, button.current);
        }}
        onToggle={(event) => {
          if (isOpening(event)) startMenu(event.currentTarget);
        }}
      >
        {header}
        <div role="menu" tabIndex={-1} aria-label={label} onKeyDown={moveFocus}>
          {items.map((item) => (
            <MenuEntry key={item.label} item={item} onChoose={() => void choose(item)} />
          ))}
        </div>
      </div>
      {failure !== undefined && (
        <FailureDialog {...failure} onClose={() => setFailure(undefined)} />
      )}
    </>
  );
};

const MenuEntry = ({ item, onChoose }: { item: MenuItem; onChoose: () => void }) => {
  const entryProps = {
    role: "menuitem",
    // The arrow keys move between the entries, so the Tab key skips them.
    tabIndex: -1,
    "data-tone": item.tone,
    onClick: onChoose,
  };
  const content = (
    <>
      {item.icon !== undefined && <Icon node={item.icon} />}
      {item.label}
    </>
  );
  if ("to" in item)
    return (
      <Link {...entryProps} to={item.to}>
        {content}
      </Link>
    );
  if ("href" in item)
    return (
      <a {...entryProps} href={item.href} target="_blank" rel="noreferrer">
        {content}
      </a>
    );
  return (
    <button {...entryProps} type="button">
      {content}
    </button>
  );
};

const FailureDialog = ({
  title,
  error,
  onClose,
}: {
  title: string;
  error: unknown;
  onClose: () => void;
}) => (
  <Dialog title={title} onClose={onClose}>
    <ErrorNotice error={error} />
    <div className={styles["row"]}>
      <Button onPress={onClose}>{texts.close}</Button>
    </div>
  </Dialog>
);

const isOpening = ({ newState }: ToggleEvent): boolean => newState === "open";

/** Places the menu below or above its button, where there is more space. */
const placeMenu = ({ style }: HTMLElement, button: HTMLElement): void => {
  const { top, bottom, left, right } = button.getBoundingClientRect();
  const { clientWidth, clientHeight } = document.documentElement;
  const isBelow = clientHeight - bottom > top;
  style.top = isBelow ? `${bottom + gapPx}px` : "auto";
  style.bottom = isBelow ? "auto" : `${clientHeight - top + gapPx}px`;
  const isInRightHalf = left + right > clientWidth;
  style.left = isInRightHalf ? "auto" : `${left}px`;
  style.right = isInRightHalf ? `${clientWidth - right}px` : "auto";
};

/** Focuses the first entry. Closes the menu when the page scrolls, because its button moves. */
const startMenu = (menu: HTMLElement): void => {
  listEntries(menu)[0]?.focus({ preventScroll: true });
  const close = (): void => {
    if (menu.matches(":popover-open")) menu.hidePopover();
  };
  addEventListener("scroll", close, { capture: true, once: true });
};

const listEntries = (menu: HTMLElement): HTMLElement[] => [
  ...menu.querySelectorAll<HTMLElement>("[role=menuitem]"),
];

/** Moves the focus with the arrow keys, Home and End. Tab leaves the menu. */
const moveFocus = (event: KeyboardEvent<HTMLElement>): void => {
  if (event.key === "Tab") event.currentTarget.parentElement?.hidePopover();
  const entries = listEntries(event.currentTarget);
  const index = entries.findIndex((entry) => entry === document.activeElement);
  const targetIndexes: Readonly<Record<string, number>> = {
    ArrowDown: (index + 1) % entries.length,
    ArrowUp: (index - 1 + entries.length) % entries.length,
    Home: 0,
    End: entries.length - 1,
  };
  const targetIndex = targetIndexes[event.key];
  if (targetIndex === undefined) return;
  event.preventDefault();
  entries[targetIndex]?.focus();
};
