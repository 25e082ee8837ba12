import * as z from "zod";

/** For whom signing in opens an account: anyone, nobody, people of the identity provider (rule CALLER-16). */
export const SignUp = z.enum(["open", "closed", "oidc"]);
export type SignUp = z.output<typeof SignUp>;

/** Returns for whom signing in opens an account where `SIGN_UP` is not set (rule CALLER-37). */
export const getDefaultSignUp = (nodeEnv: string): SignUp =>
  nodeEnv === "production" ? "closed" : "open";
