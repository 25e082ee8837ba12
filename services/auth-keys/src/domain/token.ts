import { randomBytes } from "node:crypto";
import { hashSecret } from "@payment-links/contracts";

const tokenBytes = 32;

/** Generates the secret of a session or a sign-in link: 256 random bits as URL-safe text. */
export const generateToken = (): string => randomBytes(tokenBytes).toString("base64url");

/** Generates a token with the hash that is stored instead of it. */
export const generateHashedToken = (): { token: string; hash: Buffer } => {
  const token = generateToken();
  return { token, hash: hashSecret(token) };
};
