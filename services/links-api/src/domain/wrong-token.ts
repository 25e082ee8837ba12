import type { CheckoutLink } from "@payment-links/contracts";

/** Money sent to a link in a token that is easily mistaken for the link's token. */
export type WrongToken = NonNullable<CheckoutLink["wrongToken"]>;
