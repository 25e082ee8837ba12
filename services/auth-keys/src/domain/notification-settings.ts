import {
  type NotificationKind,
  type NotificationSettingsData,
  notificationKinds,
} from "@payment-links/contracts";
import type { EmailLanguage } from "./email.ts";

/** An account's email notifications. A kind is on unless it is disabled. */
export type NotificationSettings = {
  address: string | null;
  pendingAddress: string | null;
  language: EmailLanguage;
  disabledKinds: readonly string[];
};

type KindSwitches = Record<NotificationKind, boolean>;

const toSwitches = (isOn: (kind: NotificationKind) => boolean): KindSwitches => ({
  payment_received: isOn("payment_received"),
  attention_needed: isOn("attention_needed"),
  endpoint_failing: isOn("endpoint_failing"),
  new_sign_in: isOn("new_sign_in"),
  new_wallet: isOn("new_wallet"),
});

/** Serializes the settings for the owner. An account without settings has no address. */
export const serializeNotifications = (
  settings: NotificationSettings | undefined,
  { isAvailable }: { isAvailable: boolean },
): NotificationSettingsData => ({
  isAvailable,
  address: settings?.address ?? null,
  pendingAddress: settings?.pendingAddress ?? null,
  kinds: toSwitches((kind) => settings?.disabledKinds.includes(kind) !== true),
});

/** Returns the disabled kinds after a change. Kinds that the change omits stay the same. */
export const applySwitches = (
  disabledKinds: readonly string[],
  switches: { readonly [Kind in NotificationKind]?: boolean | undefined },
): string[] =>
  notificationKinds.filter((kind) => !(switches[kind] ?? !disabledKinds.includes(kind)));
