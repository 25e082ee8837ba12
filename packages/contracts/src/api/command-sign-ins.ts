import * as z from "zod";
import { Mode, modes } from "../mode.ts";
import { scopes } from "../scope.ts";
import { body, list, nullable, oneOf, required, text } from "../validation.ts";
import { type Operation, wireInstant } from "./operation.ts";

/** The request body with which a command line starts to sign in. */
export const StartCommandSignInBody = body({
  deviceName: required(text({ lengthMin: 1, lengthMax: 100 })).describe(
    "Shown to the user, and the name of the new API key.",
  ),
  mode: nullable(oneOf(modes)).describe(
    "The mode of the new API key, and of the console page. Defaults to `live`.",
  ),
}).meta({ id: "NewCommandSignIn" });

/** A started sign-in. No other response contains the codes. */
const StartedCommandSignIn = z
  .object({
    deviceCode: z.string().meta({ description: "The secret of the command line." }),
    userCode: z.string().meta({
      description: "The user enters it in the console.",
      examples: ["WDJB-MJHT"],
    }),
    verificationUrl: z.string().meta({ description: "The page where the user enters the code." }),
    intervalSeconds: z.int().meta({ description: "The pause between two polls." }),
    expiresInSeconds: z.int().meta({ description: "How long the codes are valid." }),
  })
  .meta({ id: "StartedCommandSignIn" });

/** The request body with which a command line asks for the result. */
export const PollCommandSignInBody = body({
  deviceCode: required(text({ lengthMin: 1, lengthMax: 100 })),
}).meta({ id: "CommandSignInPoll" });

const CommandSignInResult = z
  .object({
    status: z.enum(["pending", "allowed", "denied"]),
    key: z.string().nullable().meta({
      description: "The new API key. Only the first response with `allowed` exists.",
    }),
    mode: Mode.nullable().meta({ description: "The mode of the key." }),
    scopes: z.array(z.string()).nullable().meta({ description: "The scopes of the key." }),
  })
  .meta({ id: "CommandSignInResult" });
export type CommandSignInResult = z.output<typeof CommandSignInResult>;

/** A pending sign-in as the user sees it. */
const PendingCommandSignIn = z
  .object({
    deviceName: z.string(),
    mode: Mode.meta({ description: "The mode of the new API key." }),
    address: z.string().nullable().meta({ description: "The IP address of the command line." }),
    dateCreated: wireInstant,
    expiresAt: wireInstant,
  })
  .meta({ id: "PendingCommandSignIn" });

/** The request body that allows a sign-in. */
export const AllowCommandSignInBody = body({
  scopes: required(list(oneOf(scopes), { itemsMin: 1, itemsMax: scopes.length })).describe(
    "The scopes of the new API key.",
  ),
}).meta({ id: "CommandSignInAllowance" });

const commandOperation = { method: "post", caller: "anyone", tag: "Command line" } as const;

/** Below the path of the API keys, because browsers send the session cookie there. */
const consoleOperation = {
  path: "/console/api/api-keys/sign-ins/:code",
  caller: "session",
  tag: "API keys",
} as const;

/** The operations with which `payment-links login` gets an API key (rule CALLER-47). */
export const commandSignInOperations = {
  start: {
    ...commandOperation,
    path: "/command/sign-ins",
    operationId: "startCommandSignIn",
    summary: "Start to sign in a command line",
    description: "Like the device authorization of OAuth 2.0 (RFC 8628).",
    body: StartCommandSignInBody,
    responses: { 201: StartedCommandSignIn },
    errors: ["TEST_MODE_UNAVAILABLE"],
  },
  poll: {
    ...commandOperation,
    path: "/command/sign-ins/poll",
    operationId: "pollCommandSignIn",
    summary: "Get the result of a sign-in",
    description: "The response with `allowed` or `denied` ends the sign-in.",
    body: PollCommandSignInBody,
    responses: { 200: CommandSignInResult },
    errors: ["NOT_FOUND", "ACCOUNT_SUSPENDED", "API_KEY_LIMIT"],
  },
  get: {
    ...consoleOperation,
    method: "get",
    operationId: "getCommandSignIn",
    summary: "Get the sign-in of a command line by its code",
    responses: { 200: PendingCommandSignIn },
  },
  allow: {
    ...consoleOperation,
    path: `${consoleOperation.path}/allow`,
    method: "post",
    needsPresence: true,
    operationId: "allowCommandSignIn",
    summary: "Allow a command line to sign in, with a new API key",
    description: "The command line gets the key with its next poll.",
    body: AllowCommandSignInBody,
    responses: { 204: null },
    errors: ["API_KEY_LIMIT"],
  },
  deny: {
    ...consoleOperation,
    path: `${consoleOperation.path}/deny`,
    method: "post",
    operationId: "denyCommandSignIn",
    summary: "Deny the sign-in of a command line",
    responses: { 204: null },
  },
} as const satisfies Record<string, Operation>;
