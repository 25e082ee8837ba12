import {
  type IconNode,
  code,
  house,
  keyRound,
  link,
  settings,
  webhook,
} from "@payment-links/design/icons";
import { texts } from "./texts.ts";

type NavigationItem = { to: string; label: string; icon: IconNode };

/** The main views. */
export const navigationItems: readonly NavigationItem[] = [
  { to: "/", label: texts.overview, icon: house },
  { to: "/links", label: texts.links, icon: link },
  { to: "/keys", label: texts.keys, icon: keyRound },
  { to: "/webhooks", label: texts.webhooks, icon: webhook },
  { to: "/developers", label: texts.developers, icon: code },
  { to: "/account", label: texts.account, icon: settings },
];
