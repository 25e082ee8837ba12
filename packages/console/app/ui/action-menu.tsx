import { ellipsis } from "@payment-links/design/icons";
import { Icon } from "./icon.tsx";
import { Menu, type MenuItem } from "./menu.tsx";
import styles from "./ui.module.css";

type ActionMenuProps = {
  /** The accessible name, such as `Actions: till`. */
  label: string;
  items: readonly MenuItem[];
};

/** The ⋯ button with the less common actions of an item. */
export const ActionMenu = ({ label, items }: ActionMenuProps) => (
  <Menu
    label={label}
    trigger={<Icon node={ellipsis} />}
    triggerLabel={label}
    triggerClassName={styles["iconButton"]}
    items={items}
  />
);
