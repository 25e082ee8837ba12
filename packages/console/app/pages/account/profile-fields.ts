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
export const toProfileFields = (account: OwnAccount): ProfileFields => ({
  handle: account.handle ?? "",
  username: account.username,
  bio: account.bio ?? "",
  profileImage: account.profileImage ?? "",
  backgroundImage: account.backgroundImage ?? "",
  backgroundColour: account.backgroundColour ?? "",
  links: (account.links ?? []).join("\n"),
});

/** What of the profile was changed in the form: what is emptied is cleared. */
export const getProfileChanges = (fields: ProfileFields, account: OwnAccount): AccountChange => {
  const original = toProfileFields(account);
  const changes: AccountChange = {};
  if (fields.handle !== original.handle) changes.handle = fields.handle;
  if (fields.username !== original.username) changes.username = fields.username;
  for (const name of ["bio", "profileImage", "backgroundImage", "backgroundColour"] as const) {
    if (fields[name] !== original[name]) changes[name] = fields[name] === "" ? null : fields[name];
  }
  if (fields.links !== original.links) {
    const links = splitLines(fields.links);
    changes.links = links.length === 0 ? null : links;
  }
  return changes;
};

/** The lines of a text that say something. */
export const splitLines = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
