import type { Request } from "express";
import { negotiateLanguage } from "@payment-links/http";
import { type SiteTexts, siteTexts } from "./site-texts.ts";
import { siteTextsGerman } from "./site-texts-german.ts";

const textsByLanguage = { en: siteTexts, de: siteTextsGerman };

/** What a page that is about no payment says, in the language that a browser asks for. */
export const getSiteTexts = (req: Request): SiteTexts => textsByLanguage[negotiateLanguage(req)];
