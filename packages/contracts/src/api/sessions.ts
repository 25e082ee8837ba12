import * as z from "zod";
import { body, optional, oneOf, parameter, required, text } from "../validation.ts";
import { OwnAccount } from "./accounts.ts";
import { PasskeyAssertion, PasskeyRequestOptions } from "./passkeys.ts";
import { type Operation, listOf, wireInstant } from "./operation.ts";

/** The sign-in methods: an operator's one-time link, Ethereum, OpenID Connect, and a passkey. */
export const signInMethods = ["link", "siwe", "oidc", "passkey"] as const;

/** The maximum length of a Sign-In with Ethereum message. */
const siweCharsMax = 4000;

/** The signature of a smart contract wallet may include the contract's deployment code (ERC-6492). */
const signatureCharsMax = 20_000;

/** A signed Sign-In with Ethereum message, before its verification. */
const SiweBody = body({
  message: required(text({ lengthMax: siweCharsMax })),
  signature: required(text({ lengthMax: signatureCharsMax })),
}).meta({ id: "SignedSiweMessage" });

const proofFields = {
  token: optional(text({ lengthMax: 200 })).describe("The token of a one-time sign-in link."),
  siwe: SiweBody.optional(),
  passkey: PasskeyAssertion.optional(),
};
const proofMetadata = {
  description: "One of the three. If several are sent, `passkey` takes precedence, then `siwe`.",
  anyOf: [{ required: ["token"] }, { required: ["siwe"] }, { required: ["passkey"] }],
};

/** The request body that starts a session. It has exactly one of these proofs. */
export const SignInBody = body(proofFields).meta({ id: "SignIn", ...proofMetadata });

/** The request body that proves a user's presence. It has exactly one of these proofs. */
export const PresenceBody = body(proofFields).meta({ id: "PresenceProof", ...proofMetadata });

/** The token of a one-time sign-in link. The response names the link's owner. */
export const SignInLinkRequest = body({
  token: required(text({ lengthMax: 200 })),
}).meta({ id: "SignInLinkQuestion" });

/** The owner of a sign-in link. */
const SignInLinkOwner = z
  .object({ handle: z.string().nullable(), username: z.string() })
  .meta({ id: "SignInLinkOwner" });

/** The request body that links an identity to an account, with the same proof as for sign-in. */
export const LinkIdentityBody = body({ siwe: SiweBody }).meta({ id: "IdentityProof" });

const booleanTexts = ["true", "false"] as const;

/** The query parameters of a sign-in with OpenID Connect. */
export const StartOidcQuery = z.object({
  link: parameter(oneOf(booleanTexts)).describe(
    "Whether to link the returned identity to the signed-in account.",
  ),
  prove: parameter(oneOf(booleanTexts)).describe(
    "Whether to prove presence in the current session. The provider is asked to authenticate the user again.",
  ),
});

/** The query parameters of a nonce. */
export const NonceQuery = z.object({
  address: parameter(text({ lengthMax: 100 })).describe(
    "The Ethereum address that signs in. If set, the response includes the message to sign.",
  ),
});

/** A nonce, and the message that contains it if the request had an address. */
const Nonce = z.object({ nonce: z.string(), message: z.string().optional() }).meta({ id: "Nonce" });

/** The sign-in methods that this installation offers. */
const SignInMethods = z
  .object({ methods: z.array(z.enum(signInMethods)) })
  .meta({ id: "SignInMethods" });

/** A session as its user sees it. */
export const SessionData = z
  .object({
    id: z.string(),
    method: z.enum(signInMethods),
    dateCreated: wireInstant,
    lastSeenAt: wireInstant,
    expiresAt: wireInstant.meta({ description: "When the session ends, regardless of activity." }),
    device: z
      .string()
      .nullable()
      .meta({
        description: "The browser and operating system at sign-in. Null if unknown.",
        examples: ["Chrome on macOS"],
      }),
    isCurrent: z.boolean(),
  })
  .meta({ id: "SessionData" });
export type SessionData = z.output<typeof SessionData>;

/** An identity as its owner sees it. */
export const IdentityData = z
  .object({
    id: z.string(),
    method: z.enum(["siwe", "oidc"]),
    issuer: z.string(),
    subject: z.string(),
    dateCreated: wireInstant,
  })
  .meta({ id: "IdentityData" });
export type IdentityData = z.output<typeof IdentityData>;

const sessionPath = "/console/api/session";
const tag = "Sessions";
const browserOnlyDescription =
  "For browsers. On failure, redirects to the console with `?error=<code>`.";

/** The sign-in operations. Anyone may call them. */
export const signInOperations = {
  start: {
    method: "post",
    path: sessionPath,
    caller: "anyone",
    tag,
    operationId: "signIn",
    summary: "Sign in with a one-time link, Ethereum or a passkey",
    description: "Returns the account and sets the session cookies.",
    body: SignInBody,
    responses: { 200: OwnAccount },
    errors: [
      "INVALID_SIGN_IN_TOKEN",
      "INVALID_SIWE_MESSAGE",
      "SIWE_CHAIN_UNAVAILABLE",
      "INVALID_PASSKEY",
      "CROSS_SITE_REQUEST",
      "SIGN_IN_METHOD_UNAVAILABLE",
      "SIGN_UP_CLOSED",
      "ACCOUNT_SUSPENDED",
    ],
  },
  getLinkOwner: {
    method: "post",
    path: `${sessionPath}/link`,
    caller: "anyone",
    tag,
    operationId: "askAboutSignInLink",
    summary: "Get the owner of a one-time sign-in link without using the link",
    body: SignInLinkRequest,
    responses: { 200: SignInLinkOwner },
    errors: [
      "INVALID_SIGN_IN_TOKEN",
      "CROSS_SITE_REQUEST",
      "SIGN_IN_METHOD_UNAVAILABLE",
      "ACCOUNT_SUSPENDED",
    ],
  },
  listMethods: {
    method: "get",
    path: `${sessionPath}/methods`,
    caller: "anyone",
    tag,
    operationId: "listSignInMethods",
    summary: "List the available sign-in methods",
    responses: { 200: SignInMethods },
  },
  getNonce: {
    method: "get",
    path: `${sessionPath}/nonce`,
    caller: "anyone",
    tag,
    operationId: "getNonce",
    summary: "Get a nonce for Sign-In with Ethereum",
    description: "The nonce works once, within 5 minutes, in this browser.",
    query: NonceQuery,
    responses: { 200: Nonce },
    errors: ["CROSS_SITE_REQUEST", "SIGN_IN_METHOD_UNAVAILABLE", "INVALID_WALLET_ADDRESS"],
  },
  getPasskeyRequest: {
    method: "get",
    path: `${sessionPath}/passkey`,
    caller: "anyone",
    tag,
    operationId: "getPasskeyRequest",
    summary: "Get the options for signing in with a passkey",
    description: "The challenge works once, within 5 minutes, in this browser.",
    responses: { 200: PasskeyRequestOptions },
    errors: ["CROSS_SITE_REQUEST", "SIGN_IN_METHOD_UNAVAILABLE"],
  },
  startOidc: {
    method: "get",
    path: `${sessionPath}/oidc`,
    caller: "anyone",
    tag,
    operationId: "startOidc",
    summary: "Redirect to the identity provider",
    description: browserOnlyDescription,
    query: StartOidcQuery,
    responses: { 303: null },
    errors: [
      "UNAUTHENTICATED",
      "REAUTHENTICATION_REQUIRED",
      "CROSS_SITE_REQUEST",
      "ACCOUNT_SUSPENDED",
      "SIGN_IN_METHOD_UNAVAILABLE",
      "OIDC_ISSUER_UNAVAILABLE",
    ],
  },
  finishOidc: {
    method: "get",
    path: `${sessionPath}/oidc/callback`,
    caller: "anyone",
    tag,
    operationId: "finishOidc",
    summary: "Complete a sign-in after the identity provider's redirect",
    description: browserOnlyDescription,
    responses: { 303: null },
    errors: [
      "UNAUTHENTICATED",
      "OIDC_SIGN_IN_REFUSED",
      "REAUTHENTICATION_REQUIRED",
      "REAUTHENTICATION_MISMATCH",
      "SIGN_IN_METHOD_UNAVAILABLE",
      "SIGN_UP_CLOSED",
      "ACCOUNT_SUSPENDED",
      "IDENTITY_TAKEN",
      "IDENTITY_LIMIT",
      "OIDC_ISSUER_UNAVAILABLE",
    ],
  },
} as const satisfies Record<string, Operation>;

/** The operations on the signed-in user's sessions. */
export const sessionOperations = {
  get: {
    method: "get",
    path: sessionPath,
    caller: "session",
    tag,
    operationId: "getSession",
    summary: "Get the signed-in account",
    responses: { 200: OwnAccount },
  },
  end: {
    method: "delete",
    path: sessionPath,
    caller: "session",
    tag,
    operationId: "signOut",
    summary: "Sign out",
    responses: { 204: null },
  },
  provePresence: {
    method: "post",
    path: `${sessionPath}/presence`,
    caller: "session",
    tag,
    operationId: "provePresence",
    summary: "Prove that the signed-in user is present",
    description:
      "For the next 10 minutes the session can perform sensitive operations, such as adding a wallet or " +
      "creating an API key. The session gets a new cookie, and the previous cookie becomes invalid.",
    body: PresenceBody,
    responses: { 204: null },
    errors: [
      "INVALID_SIGN_IN_TOKEN",
      "INVALID_SIWE_MESSAGE",
      "SIWE_CHAIN_UNAVAILABLE",
      "INVALID_PASSKEY",
      "REAUTHENTICATION_MISMATCH",
      "SIGN_IN_METHOD_UNAVAILABLE",
    ],
  },
  list: {
    method: "get",
    path: "/console/api/sessions",
    caller: "session",
    tag,
    operationId: "listSessions",
    summary: "List the account's sessions, newest first",
    responses: { 200: listOf(SessionData).meta({ id: "SessionList" }) },
  },
  revoke: {
    method: "delete",
    path: "/console/api/sessions/:id",
    caller: "session",
    tag,
    operationId: "revokeSession",
    summary: "End one of the account's sessions",
    responses: { 204: null },
  },
  revokeOthers: {
    method: "delete",
    path: "/console/api/sessions",
    caller: "session",
    tag,
    operationId: "revokeOtherSessions",
    summary: "End all sessions of the account except the current one",
    responses: { 204: null },
  },
} as const satisfies Record<string, Operation>;

const identityOperation = {
  path: "/console/api/identities",
  caller: "session",
  tag: "Identities",
} as const;

/** The operations on the identities that can sign in to the account. */
export const identityOperations = {
  list: {
    ...identityOperation,
    method: "get",
    operationId: "listIdentities",
    summary: "List the linked identities that can sign in to the account",
    responses: { 200: listOf(IdentityData).meta({ id: "IdentityList" }) },
  },
  link: {
    ...identityOperation,
    method: "post",
    needsPresence: true,
    operationId: "linkIdentity",
    summary: "Link an Ethereum address to the account",
    description: "Returns 201 for a new identity and 200 for one that is already linked.",
    body: LinkIdentityBody,
    responses: { 200: IdentityData, 201: IdentityData },
    errors: [
      "INVALID_SIWE_MESSAGE",
      "SIWE_CHAIN_UNAVAILABLE",
      "SIGN_IN_METHOD_UNAVAILABLE",
      "IDENTITY_TAKEN",
      "IDENTITY_LIMIT",
    ],
  },
  unlink: {
    ...identityOperation,
    path: "/console/api/identities/:id",
    method: "delete",
    needsPresence: true,
    operationId: "unlinkIdentity",
    summary: "Unlink an identity and end the other sessions that it started",
    responses: { 204: null },
    errors: ["LAST_WAY_IN"],
  },
} as const satisfies Record<string, Operation>;
