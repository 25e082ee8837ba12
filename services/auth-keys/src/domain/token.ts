import { randomBytes } from "node:crypto";

const tokenBytes = 32;

/** Generates the secret of a session or a sign-in link: 256 random bits as URL-safe text. */
export const generateToken = (): string => randomBytes(tokenBytes).toString("base64url");
