import type { Request, Response } from "express";
import { type Catalogue, createApiError } from "@payment-links/contracts";
import { globe } from "@payment-links/design/icons";
import { html, parsePathParameter } from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";
import { findChainLogo } from "./logos.ts";
import { renderIconContent } from "./render-icon.ts";

/**
 * GET /checkout/logos/:chainId.svg: returns the network logo of a chain in the catalogue, or an icon
 * of a globe if we have no logo. Responses of the API contain this URL.
 */
export const getChainLogo = ({ catalogue }: Pick<Dependencies, "catalogue">) => {
  const logos = new Map(catalogue.chains.map((chain) => [chain.id, getLogo(chain)]));
  return (req: Request, res: Response): void => {
    const logo = logos.get(parsePathParameter(req, "chainId"));
    if (logo === undefined) throw createApiError("NOT_FOUND");
    res.setHeader("Cache-Control", "public, max-age=86400");
    res.setHeader("Content-Security-Policy", "default-src 'none'");
    res.setHeader("X-Content-Type-Options", "nosniff");
    res.type("image/svg+xml").send(logo);
  };
};

const getLogo = ({ id }: Catalogue["chains"][number]): string =>
  findChainLogo(id)?.text ?? renderGlobe();

/** The color has enough contrast on a light and on a dark background. */
const renderGlobe = (): string =>
  html`<svg
    xmlns="http://www.w3.org/2000/svg"
    viewBox="0 0 24 24"
    width="24"
    height="24"
    fill="none"
    stroke="#7a8291"
    stroke-width="2"
    stroke-linecap="round"
    stroke-linejoin="round"
  >
    ${renderIconContent(globe)}
  </svg>`.text;
