export { type Ask, BadAnswer, type Caller, IdentityUnavailable } from "./caller.ts";
export { createHttpAsk } from "./http-ask.ts";
export { type Identity, createIdentity } from "./identity.ts";
export { presenceMsMax, requirePresence } from "./require-presence.ts";
