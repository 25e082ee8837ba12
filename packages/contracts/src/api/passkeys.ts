import * as z from "zod";
import { body, nullable, required, text } from "../validation.ts";
import { type Operation, listOf, wireCount, wireInstant } from "./operation.ts";

const credentialIdCharsMax = 1_400;
const assertionCharsMax = 4_000;
const attestationCharsMax = 16_000;

const base64urlField = (lengthMax: number) =>
  required(text({ lengthMax })).meta({ type: "string", maxLength: lengthMax });

/** A passkey's response to a challenge, as `PublicKeyCredential.toJSON()` returns it. */
export const PasskeyAssertion = body({
  id: base64urlField(credentialIdCharsMax),
  response: body({
    clientDataJSON: base64urlField(assertionCharsMax),
    authenticatorData: base64urlField(assertionCharsMax),
    signature: base64urlField(assertionCharsMax),
    userHandle: nullable(text({ lengthMax: 200 })),
  }),
}).meta({ id: "PasskeyAnswer" });
export type PasskeyAssertion = z.output<typeof PasskeyAssertion>;

const passkeyName = text({ lengthMin: 1, lengthMax: 100 });

/** A passkey that an authenticator has created, as `PublicKeyCredential.toJSON()` returns it. */
export const NewPasskey = body({
  name: required(passkeyName),
  passkey: body({
    id: base64urlField(credentialIdCharsMax),
    response: body({
      clientDataJSON: base64urlField(assertionCharsMax),
      attestationObject: base64urlField(attestationCharsMax),
    }),
  }),
}).meta({ id: "NewPasskey" });
export type NewPasskey = z.output<typeof NewPasskey>;

/** The request body that renames a passkey. */
export const PasskeyChange = body({ name: required(passkeyName) }).meta({ id: "PasskeyChange" });

/** The options for an authenticator that signs in or proves presence. */
export const PasskeyRequestOptions = z
  .object({
    challenge: z.string(),
    rpId: z.string(),
    timeout: wireCount.meta({ description: "In milliseconds." }),
    userVerification: z.literal("required"),
  })
  .meta({ id: "PasskeyRequest" });

/** The options for an authenticator that creates a passkey. */
export const PasskeyCreationOptions = z
  .object({
    challenge: z.string(),
    rp: z.object({ id: z.string(), name: z.string() }),
    user: z.object({ id: z.string(), name: z.string(), displayName: z.string() }),
    pubKeyCredParams: z.array(
      z.object({
        type: z.literal("public-key"),
        alg: z.int().meta({ description: "The COSE algorithm identifier." }),
      }),
    ),
    excludeCredentials: z.array(z.object({ type: z.literal("public-key"), id: z.string() })),
    authenticatorSelection: z.object({
      residentKey: z.literal("required"),
      requireResidentKey: z.literal(true),
      userVerification: z.literal("required"),
    }),
    attestation: z.literal("none"),
    timeout: wireCount.meta({ description: "In milliseconds." }),
  })
  .meta({ id: "PasskeyCreation" });
export type PasskeyCreationOptions = z.output<typeof PasskeyCreationOptions>;

/** A passkey as its owner sees it. */
export const PasskeyData = z
  .object({
    id: z.string(),
    name: z.string(),
    dateCreated: wireInstant,
    lastUsedAt: wireInstant.nullable(),
  })
  .meta({ id: "PasskeyData" });
export type PasskeyData = z.output<typeof PasskeyData>;

const collectionOperation = {
  path: "/console/api/passkeys",
  caller: "session",
  tag: "Passkeys",
} as const;
const itemOperation = { ...collectionOperation, path: "/console/api/passkeys/:id" } as const;

/** The operations on the signed-in user's passkeys. */
export const passkeyOperations = {
  list: {
    ...collectionOperation,
    method: "get",
    operationId: "listPasskeys",
    summary: "List the account's passkeys, oldest first",
    responses: { 200: listOf(PasskeyData).meta({ id: "PasskeyList" }) },
  },
  getCreationOptions: {
    ...collectionOperation,
    path: "/console/api/passkeys/creation",
    method: "get",
    needsPresence: true,
    operationId: "getPasskeyCreation",
    summary: "Get the options for creating a passkey",
    description: "The challenge works once, within 5 minutes.",
    responses: { 200: PasskeyCreationOptions },
    errors: ["SIGN_IN_METHOD_UNAVAILABLE"],
  },
  add: {
    ...collectionOperation,
    method: "post",
    needsPresence: true,
    operationId: "addPasskey",
    summary: "Add a passkey to the account",
    body: NewPasskey,
    responses: { 201: PasskeyData },
    errors: ["INVALID_PASSKEY", "PASSKEY_EXISTS", "PASSKEY_LIMIT", "SIGN_IN_METHOD_UNAVAILABLE"],
  },
  change: {
    ...itemOperation,
    method: "patch",
    operationId: "changePasskey",
    summary: "Rename a passkey",
    body: PasskeyChange,
    responses: { 200: PasskeyData },
  },
  remove: {
    ...itemOperation,
    method: "delete",
    needsPresence: true,
    operationId: "removePasskey",
    summary: "Remove a passkey and end the other sessions that it started",
    responses: { 204: null },
    errors: ["LAST_WAY_IN"],
  },
} as const satisfies Record<string, Operation>;
