import * as z from "zod";

/**
 * Who can create an account by signing in: anyone, no one, or users of the identity provider (rule
 * CALLER-16).
 */
export const SignUp = z.enum(["open", "closed", "oidc"]);
export type SignUp = z.output<typeof SignUp>;

/** Returns who can create an account if `SIGN_UP` is not set (rule CALLER-37). */
export const getDefaultSignUp = (nodeEnv: string): SignUp =>
  nodeEnv === "production" ? "closed" : "open";
