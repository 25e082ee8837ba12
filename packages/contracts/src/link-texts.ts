import * as z from "zod";
import { nullable, text } from "./validation.ts";

/** What an owner may write on a link, as an order brings it (rule API-3). */
export const linkTextsBody = {
  description: nullable(text({ lengthMax: 500 })).describe("What the payer sees."),
};

/** What an owner wrote on a link, as it is kept, and told in lists, events and webhooks. */
export const LinkTexts = z.object({
  description: z.string().nullable().meta({ description: "What the payer sees." }),
});
export type LinkTexts = z.output<typeof LinkTexts>;

type PartialLinkTexts = { [Name in keyof LinkTexts]?: LinkTexts[Name] | undefined };

/** Takes the texts of an order or a link, null where there are none. */
export const pickLinkTexts = ({ description = null }: PartialLinkTexts): LinkTexts => ({
  description,
});
