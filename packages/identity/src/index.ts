export {
  type RequestIntrospection,
  InvalidIntrospectionResponse,
  type Caller,
  IdentityUnavailable,
} from "./caller.ts";
export { createIntrospectionClient } from "./introspection-client.ts";
export { type Identity, createIdentity } from "./identity.ts";
export { presenceMsMax, requirePresence } from "./require-presence.ts";
