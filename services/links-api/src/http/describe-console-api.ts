import { createDocument } from "zod-openapi";
import { type SessionService, consoleOperations } from "@payment-links/contracts";
import { cookiePolicy } from "@payment-links/http";
import type { Deps } from "../deps.ts";
import {
  describeOperations,
  documentOptions,
  errorGuide,
  sessionSchemes,
} from "./describe-operations.ts";

type Subject = Pick<Deps, "baseUrl" | "catalogue" | "clock">;

/**
 * Describes what the console and the checkout call as OpenAPI 3.1. Other services answer some of it;
 * what they answer is told by the contracts, from which they too take their routes.
 */
export const describeConsoleApi = ({ baseUrl, catalogue, clock }: Subject) =>
  createDocument(
    {
      openapi: "3.1.1",
      info: {
        title: "Payment Links console and checkout",
        version: "1.0.0",
        description:
          "What our own pages call, as a signed-in person or as a payer. It changes with them; for " +
          "programs there is the API under /v1. Requests from another site are refused. Amounts are plain " +
          `decimal strings.\n\n${errorGuide}`,
        contact: { name: "Whoever runs this service", url: baseUrl },
      },
      servers: [{ url: baseUrl }],
      tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
      paths: describeOperations(consoleOperations({ catalogue, now: () => clock.now() })),
      components: {
        securitySchemes: {
          [sessionSchemes["auth-keys"]]: sessionScheme(baseUrl, "auth-keys"),
          [sessionSchemes["links-api"]]: sessionScheme(baseUrl, "links-api"),
          [sessionSchemes["webhook-dispatcher"]]: sessionScheme(baseUrl, "webhook-dispatcher"),
        },
      },
    },
    documentOptions,
  );

const sessionScheme = (baseUrl: string, service: SessionService) =>
  ({
    type: "apiKey",
    in: "cookie",
    name: cookiePolicy(baseUrl, service).name,
    description:
      "The session that signing in begins. Signing in sets a cookie for each service, with the paths that " +
      "it serves; a browser or a cookie jar sends each to its own service.",
  }) as const;

const tags = {
  Sessions: "Signing in and out.",
  Identities: "What else signs in to the account.",
  Passkeys: "Keys of devices that sign in, WebAuthn.",
  Account: "The own account and what was done to it.",
  Wallets: "Where the account is paid.",
  "API keys": "Keys for the API under /v1.",
  "Payment links": "The own payment links and their payments.",
  Webhooks: "Webhook endpoints and their deliveries.",
  Checkout: "How a payment link is paid, for anyone.",
};
