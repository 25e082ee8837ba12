import * as z from "zod";
import { type Reader, body, changed, list, orNull, text, webUrl } from "../validation.ts";
import { type Operation, wireInstant } from "./operation.ts";

const urlLengthMax = 2048;
const linksMax = 10;

const colourForm = /^#[0-9A-Fa-f]{6}$/;

const colour: Reader<string> = {
  schema: { type: "string", pattern: colourForm.source },
  read: (input) => {
    if (typeof input !== "string") return "string_type";
    return colourForm.test(input) ? { value: input.toLowerCase() } : "string_pattern_mismatch";
  },
};

/** Any string: what is wrong with a handle is told by one code. */
const typedHandle: Reader<string> = {
  schema: { type: "string" },
  read: (input) => (typeof input === "string" ? { value: input } : "string_type"),
};

const url = webUrl({ lengthMax: urlLengthMax });

/** What its owner changes of an account; what is left out stays as it is. */
export const AccountChange = body({
  handle: changed(typedHandle).describe("3 to 30 of a-z, 0-9 and _, and not a reserved word."),
  username: changed(text({ lengthMin: 1, lengthMax: 100 })),
  bio: changed(orNull(text({ lengthMax: 500 }))),
  profileImage: changed(orNull(url)),
  backgroundImage: changed(orNull(url)),
  backgroundColour: changed(orNull(colour)),
  links: changed(orNull(list(url, { itemsMax: linksMax }))),
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
    dateCreated: wireInstant,
    isReady: z.boolean().meta({
      description: "Whether it can make payment links: it has a handle and a default wallet.",
    }),
  })
  .meta({ id: "OwnAccount" });
export type OwnAccount = z.output<typeof OwnAccount>;

const shared = { path: "/console/api/account", caller: "session", tag: "Account" } as const;

/** What a signed-in person does with the own account. */
export const accountOperations = {
  get: {
    ...shared,
    method: "get",
    operationId: "getAccount",
    summary: "Get the own account",
    answers: { 200: OwnAccount },
  },
  change: {
    ...shared,
    method: "patch",
    operationId: "changeAccount",
    summary: "Change the own public profile, the handle included",
    body: AccountChange,
    answers: { 200: OwnAccount },
    refusals: ["INVALID_HANDLE", "HANDLE_TAKEN", "HANDLE_LIMIT"],
  },
} as const satisfies Record<string, Operation>;
