import { randomInt } from "node:crypto";

/** How long a command line can wait for the user. */
export const commandSignInMs = 10 * 60_000;

/** The pause between two polls of a command line. */
export const pollIntervalSeconds = 2;

/**
 * No vowels, so that no words appear, and no letters that can be confused (RFC 8628, section 6.1).
 */
const userCodeLetters = "BCDFGHJKLMNPQRSTVWXZ";
const userCodeLength = 8;
const groupLength = 4;

const formatUserCode = (letters: string): string =>
  `${letters.slice(0, groupLength)}-${letters.slice(groupLength)}`;

/** Generates a code that a user can type, such as `WDJB-MJHT`: 34 random bits. */
export const generateUserCode = (): string => {
  const letters = Array.from({ length: userCodeLength }, () =>
    userCodeLetters.charAt(randomInt(userCodeLetters.length)),
  );
  return formatUserCode(letters.join(""));
};

const userCodePattern = new RegExp(`^[${userCodeLetters}]{${userCodeLength}}$`);

/** Parses a code that a user has typed, in any case and with any separators. */
export const parseUserCode = (text: string): string | undefined => {
  const letters = text.toUpperCase().replaceAll(/[\s-]/g, "");
  return userCodePattern.test(letters) ? formatUserCode(letters) : undefined;
};
