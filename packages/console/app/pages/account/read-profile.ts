import type { AccountChange, OwnAccount } from "../../api/operations.ts";

/** What was typed into the form of the profile. */
export type ProfileFields = {
  handle: string;
  username: string;
  bio: string;
  profileImage: string;
  backgroundImage: string;
  backgroundColour: string;
  links: string;
};

/** The profile as the form shows it. */
export const showProfile = (account: OwnAccount): ProfileFields => ({
  handle: account.handle ?? "",
  username: account.username,
  bio: account.bio ?? "",
  profileImage: account.profileImage ?? "",
  backgroundImage: account.backgroundImage ?? "",
  backgroundColour: account.backgroundColour ?? "",
  links: (account.links ?? []).join("\n"),
});

/** What of the profile was changed in the form: what is emptied is cleared. */
export const readProfile = (fields: ProfileFields, account: OwnAccount): AccountChange => {
  const before = showProfile(account);
  const change: AccountChange = {};
  if (fields.handle !== before.handle) change.handle = fields.handle;
  if (fields.username !== before.username) change.username = fields.username;
  for (const name of ["bio", "profileImage", "backgroundImage", "backgroundColour"] as const) {
    if (fields[name] !== before[name]) change[name] = fields[name] === "" ? null : fields[name];
  }
  if (fields.links !== before.links) {
    const links = linesOf(fields.links);
    change.links = links.length === 0 ? null : links;
  }
  return change;
};

/** The lines of a text that say something. */
export const linesOf = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
