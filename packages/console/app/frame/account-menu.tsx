import { chevronDown, externalLink, logOut, settings } from "@payment-links/design/icons";
import { Icon } from "../ui/icon.tsx";
import { Menu } from "../ui/menu.tsx";
import uiStyles from "../ui/ui.module.css";
import styles from "./frame.module.css";
import { useAccount, useSignOut } from "./session.ts";
import { texts } from "./texts.ts";

/** Shows who is signed in, and the menu to sign out. */
export const AccountMenu = () => {
  const { username, handle } = useAccount();
  const signOut = useSignOut();
  const [initial = ""] = username;
  return (
    <Menu
      label={texts.account}
      triggerClassName={styles["accountButton"]}
      trigger={
        <>
          <span className={uiStyles["hidden"]}>
            {texts.signedInAs} <bdi>{username}</bdi>
          </span>
          <bdi className={styles["username"]} aria-hidden="true">
            {username}
          </bdi>
          <span className={styles["avatar"]} aria-hidden="true">
            {initial.toUpperCase()}
          </span>
          <Icon node={chevronDown} />
        </>
      }
      header={
        <p className={styles["owner"]}>
          <bdi>{username}</bdi>
          {handle !== null && <span className={uiStyles["quiet"]}>@{handle}</span>}
        </p>
      }
      items={[
        { label: texts.account, icon: settings, to: "/account" },
        { label: texts.apiReference, icon: externalLink, href: "/v1/openapi.json" },
        { label: texts.signOut, icon: logOut, onAction: signOut },
      ]}
    />
  );
};
