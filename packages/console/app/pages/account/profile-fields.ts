import type { AccountChange, OwnAccount } from "../../api/operations.ts";

/** The values of the profile form. */
export type ProfileFields = {
  handle: string;
  username: string;
  bio: string;
  profileImage: string;
  backgroundImage: string;
  backgroundColour: string;
  links: string;
  returnUrl: string;
};

/** Converts the account's profile to form values. */
export const toProfileFields = (account: OwnAccount): ProfileFields => ({
  handle: account.handle ?? "",
  username: account.username,
  bio: account.bio ?? "",
  profileImage: account.profileImage ?? "",
  backgroundImage: account.backgroundImage ?? "",
  backgroundColour: account.backgroundColour ?? "",
  links: (account.links ?? []).join("\n"),
  returnUrl: account.returnUrl ?? "",
});

const nullableNames = [
  "bio",
  "profileImage",
  "backgroundImage",
  "backgroundColour",
  "returnUrl",
] as const;

/** Returns the fields that the user changed. An emptied field becomes null. */
export const getProfileChanges = (fields: ProfileFields, account: OwnAccount): AccountChange => {
  const original = toProfileFields(account);
  const changes: AccountChange = {};
  if (fields.handle !== original.handle) changes.handle = fields.handle;
  if (fields.username !== original.username) changes.username = fields.username;
  for (const name of nullableNames) {
    if (fields[name] !== original[name]) changes[name] = fields[name] === "" ? null : fields[name];
  }
  if (fields.links !== original.links) {
    const links = splitLines(fields.links);
    changes.links = links.length === 0 ? null : links;
  }
  return changes;
};

/** Returns the trimmed lines of a text, without the empty ones. */
export const splitLines = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

/**
 * Returns the path of an uploaded profile image, or undefined for another image. Only the path is
 * compared, because payers can use another host than the console.
 */
export const findPicturePath = (imageUrl: string): string | undefined =>
  /^https?:\/\/[^/]+(\/checkout\/pictures\/[0-9a-f]{64})$/.exec(imageUrl)?.[1];

/** Returns the first character of a name in upper case, or nothing for an empty name. */
export const getInitial = (name: string): string => {
  const [first = ""] = name.trim();
  return first.toLocaleUpperCase();
};
