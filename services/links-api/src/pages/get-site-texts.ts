import type { Request } from "express";
import { negotiateLanguage } from "@payment-links/http";
import { type SiteTexts, siteTexts } from "./site-texts.ts";
import { siteTextsGerman } from "./site-texts-german.ts";

const textsByLanguage = { en: siteTexts, de: siteTextsGerman };

/**
 * Returns the texts of pages that do not involve a payment, in the language that the browser
 * requests.
 */
export const getSiteTexts = (req: Request): SiteTexts => textsByLanguage[negotiateLanguage(req)];
