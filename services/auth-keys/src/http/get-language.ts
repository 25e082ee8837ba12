import { createLanguageNegotiator } from "@payment-links/http";
import { emailLanguages } from "../domain/email.ts";

/** Returns the language of sign-in pages and emails for the browser that sent a request. */
export const getLanguage = createLanguageNegotiator(emailLanguages);
