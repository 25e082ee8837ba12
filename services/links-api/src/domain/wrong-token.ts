import type { CheckoutLink } from "@payment-links/contracts";

/** Money for a link that came in a token that is mistaken for the link's. */
export type WrongToken = NonNullable<CheckoutLink["wrongToken"]>;
