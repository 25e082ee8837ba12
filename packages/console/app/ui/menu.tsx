import type { IconNode } from "@payment-links/design/icons";
import { type KeyboardEvent, type ReactNode, type ToggleEvent, useId, useRef } from "react";
import { Link } from "react-router";
import { suppressDoubleClick } from "./double-clicks.ts";
import { Icon } from "./icon.tsx";
import styles from "./ui.module.css";

/** An entry of a menu: an action, a link to a view of the console, or a link to another page. */
export type MenuItem = { label: string; icon?: IconNode; tone?: "danger" } & (
  | { onAction: () => unknown }
  | { to: string }
  | { href: string }
);

type MenuProps = {
  /** The accessible name of the button and of the menu. */
  label: string;
  /** What the button shows. */
  trigger: ReactNode;
  triggerClassName: string | undefined;
  header?: ReactNode;
  items: readonly MenuItem[];
  /** Runs the chosen action. */
  onAction?: (item: MenuItem, action: () => unknown) => void;
};

const gapPx = 4;

/**
 * A button that opens a menu. The native popover closes on Escape and on a click outside, and is
 * never clipped by the elements around it.
 */
export const Menu = ({
  label,
  trigger,
  triggerClassName,
  header,
  items,
  onAction = (_, action) => void action(),
}: MenuProps) => {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const popover = useRef<HTMLDivElement>(null);
  const close = (): void => {
    popover.current?.hidePopover();
    button.current?.focus({ preventScroll: true });
    suppressDoubleClick();
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        className={triggerClassName}
        aria-label={label}
        aria-haspopup="menu"
        popoverTarget={id}
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
            placeBelow(event.currentTarget, button.current);
        }}
        onToggle={(event) => {
          if (!isOpening(event)) return;
          listItems(event.currentTarget)[0]?.focus({ preventScroll: true });
          // The button moves with the page, but the menu does not.
          addEventListener("scroll", () => popover.current?.hidePopover(), {
            capture: true,
            once: true,
          });
        }}
        onKeyDown={moveFocus}
      >
        {header}
        <div role="menu" aria-label={label}>
          {items.map((item) => (
            <MenuEntry
              key={item.label}
              item={item}
              onChoose={(action) => {
                close();
                if (action !== undefined) onAction(item, action);
              }}
            />
          ))}
        </div>
      </div>
    </>
  );
};

const MenuEntry = ({
  item,
  onChoose,
}: {
  item: MenuItem;
  onChoose: (action?: () => unknown) => void;
}) => {
  const content = (
    <>
      {item.icon !== undefined && <Icon node={item.icon} />}
      {item.label}
    </>
  );
  // The arrow keys move between the entries, so the Tab key skips them.
  const entryProps = { role: "menuitem", tabIndex: -1, "data-tone": item.tone };
  if ("to" in item)
    return (
      <Link {...entryProps} to={item.to} onClick={() => onChoose()}>
        {content}
      </Link>
    );
  if ("href" in item)
    return (
      <a {...entryProps} href={item.href} onClick={() => onChoose()}>
        {content}
      </a>
    );
  return (
    <button {...entryProps} type="button" onClick={() => onChoose(item.onAction)}>
      {content}
    </button>
  );
};

const isOpening = ({ newState }: ToggleEvent): boolean => newState === "open";

/** Places the menu below its button, or above it if there is more space. */
const placeBelow = ({ style }: HTMLElement, button: HTMLElement): void => {
  const { top, bottom, left, right } = button.getBoundingClientRect();
  const { clientWidth, clientHeight } = document.documentElement;
  const isBelow = clientHeight - bottom > top;
  style.top = isBelow ? `${bottom + gapPx}px` : "auto";
  style.bottom = isBelow ? "auto" : `${clientHeight - top + gapPx}px`;
  const isInRightHalf = (left + right) / 2 > clientWidth / 2;
  style.left = isInRightHalf ? "auto" : `${left}px`;
  style.right = isInRightHalf ? `${clientWidth - right}px` : "auto";
};

const listItems = (menu: HTMLElement): HTMLElement[] => [
  ...menu.querySelectorAll<HTMLElement>("[role=menuitem]"),
];

/** Moves the focus with the arrow keys, Home and End. Tab leaves the menu. */
const moveFocus = (event: KeyboardEvent<HTMLElement>): void => {
  if (event.key === "Tab") event.currentTarget.hidePopover();
  const items = listItems(event.currentTarget);
  const index = items.findIndex((item) => item === document.activeElement);
  const targetIndexes: Readonly<Record<string, number>> = {
    ArrowDown: (index + 1) % items.length,
    ArrowUp: (index - 1 + items.length) % items.length,
    Home: 0,
    End: items.length - 1,
  };
  const targetIndex = targetIndexes[event.key];
  if (targetIndex === undefined) return;
  event.preventDefault();
  items[targetIndex]?.focus();
};
