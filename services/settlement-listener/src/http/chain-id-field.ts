import { required, text } from "@payment-links/contracts";

const chainIdLengthMax = 40;

/** The chain that an operator's request refers to. */
export const chainIdField = required(text({ lengthMin: 1, lengthMax: chainIdLengthMax }));
