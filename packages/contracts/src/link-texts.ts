import * as z from "zod";
import { nullable, text } from "./validation.ts";

/** The texts that an owner may add to a link, as fields of the request body (rule API-3). */
export const linkTextsBody = {
  description: nullable(text({ lengthMax: 500 })).describe("Shown to the payer."),
};

/** The texts of a link, as stored and as contained in lists, events and webhooks. */
export const LinkTexts = z.object({
  description: z.string().nullable().meta({ description: "Shown to the payer." }),
});
export type LinkTexts = z.output<typeof LinkTexts>;

type PartialLinkTexts = { [Name in keyof LinkTexts]?: LinkTexts[Name] | undefined };

/** Returns the texts of a request or a link. A missing text becomes null. */
export const pickLinkTexts = ({ description = null }: PartialLinkTexts): LinkTexts => ({
  description,
});
