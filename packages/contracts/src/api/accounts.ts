import * as z from "zod";
import {
  type Parser,
  body,
  formattedText,
  optional,
  list,
  orNull,
  text,
  webUrl,
} from "../validation.ts";
import { type Operation, wireInstant } from "./operation.ts";

const urlLengthMax = 2048;
const linksMax = 10;

const colourPattern = /^#[0-9A-Fa-f]{6}$/;

const colour: Parser<string> = {
  schema: { type: "string", pattern: colourPattern.source },
  parse: (input) => {
    if (typeof input !== "string") return "string_type";
    return colourPattern.test(input) ? { value: input.toLowerCase() } : "string_pattern_mismatch";
  },
};

/** Accepts any string, because one error code covers every problem with a handle. */
const handleString = formattedText({});

const url = webUrl({ lengthMax: urlLengthMax });
const httpsUrl = webUrl({ lengthMax: urlLengthMax, isHttpsRequired: true });

/** The changes that an owner makes to the account. Omitted fields keep their value. */
export const AccountChange = body({
  handle: optional(handleString).describe(
    "3 to 30 characters of a-z, 0-9 and _. Reserved words are not allowed.",
  ),
  username: optional(text({ lengthMin: 1, lengthMax: 100 })),
  bio: optional(orNull(text({ lengthMax: 500 }))),
  profileImage: optional(orNull(url)),
  backgroundImage: optional(orNull(url)),
  backgroundColour: optional(orNull(colour)),
  links: optional(orNull(list(url, { itemsMax: linksMax }))),
  returnUrl: optional(orNull(httpsUrl)).describe(
    "An https URL to which payers return after a payment.",
  ),
}).meta({ id: "AccountChange" });

/** An account as its owner sees it. */
export const OwnAccount = z
  .object({
    id: z.string(),
    handle: z.string().nullable(),
    username: z.string(),
    bio: z.string().nullable(),
    profileImage: z.string().nullable(),
    backgroundImage: z.string().nullable(),
    backgroundColour: z.string().nullable(),
    links: z.array(z.string()).nullable(),
    returnUrl: z.string().nullable(),
    dateCreated: wireInstant,
    isReady: z.boolean().meta({
      description:
        "Whether the account has a handle and a default live wallet, which payment links require.",
    }),
    isTestReady: z.boolean().meta({
      description: "The same for test mode, whose default wallet is on a test network.",
    }),
    testModeAvailable: z.boolean().meta({
      description: "Whether this installation has a test network, which test mode requires.",
    }),
  })
  .meta({ id: "OwnAccount" });
export type OwnAccount = z.output<typeof OwnAccount>;

const baseOperation = { path: "/console/api/account", caller: "session", tag: "Account" } as const;

/** The operations on the signed-in user's own account. */
export const accountOperations = {
  get: {
    ...baseOperation,
    method: "get",
    operationId: "getAccount",
    summary: "Get your account",
    responses: { 200: OwnAccount },
  },
  change: {
    ...baseOperation,
    method: "patch",
    operationId: "changeAccount",
    summary: "Change your public profile, including the handle",
    body: AccountChange,
    responses: { 200: OwnAccount },
    errors: ["INVALID_HANDLE", "HANDLE_TAKEN", "HANDLE_LIMIT"],
  },
  uploadPicture: {
    ...baseOperation,
    path: "/console/api/account/picture",
    method: "post",
    operationId: "uploadProfilePicture",
    summary: "Upload your profile image",
    description:
      "The body is a PNG, JPEG, WebP or GIF file of at most 2 MiB and 12,582,912 pixels. It becomes a square of 256 × " +
      "256 pixels without metadata, whose URL is your new `profileImage`.",
    bodyMediaTypes: ["image/png", "image/jpeg", "image/webp", "image/gif"],
    responses: { 200: OwnAccount },
    errors: ["INVALID_IMAGE", "IMAGE_TOO_MANY_PIXELS"],
  },
} as const satisfies Record<string, Operation>;
