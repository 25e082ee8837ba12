import type { Request, Response } from "express";
import { type Catalogue, createApiError } from "@payment-links/contracts";
import { parsePathParameter, html } from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";

const hueCount = 360;

/**
 * GET /checkout/logos/:chainId.svg: returns a monogram for a chain in the catalogue. It is not the
 * chain's own logo.
 */
export const getChainLogo = ({ catalogue }: Pick<Dependencies, "catalogue">) => {
  const logos = new Map(catalogue.chains.map((chain) => [chain.id, renderLogo(chain)]));
  return (req: Request, res: Response): void => {
    const logo = logos.get(parsePathParameter(req, "chainId"));
    if (logo === undefined) throw createApiError("NOT_FOUND");
    res.setHeader("Cache-Control", "public, max-age=86400");
    res.setHeader("Content-Security-Policy", "default-src 'none'");
    res.setHeader("X-Content-Type-Options", "nosniff");
    res.type("image/svg+xml").send(logo);
  };
};

const renderLogo = ({ id, name }: Catalogue["chains"][number]): string => {
  const hue = [...id].reduce(
    (sum, character) => (sum * 31 + character.charCodeAt(0)) % hueCount,
    7,
  );
  return html`<svg
    xmlns="http://www.w3.org/2000/svg"
    viewBox="0 0 32 32"
    width="32"
    height="32"
    role="img"
    aria-label="${name}"
  >
    <circle cx="16" cy="16" r="16" fill="hsl(${hue} 55% 42%)" />
    <text
      x="16"
      y="21.5"
      font-family="system-ui, sans-serif"
      font-size="15"
      font-weight="600"
      text-anchor="middle"
      fill="#fff"
    >
      ${[...name][0]}
    </text>
  </svg>`.text;
};
