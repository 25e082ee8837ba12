import { createDocument } from "zod-openapi";
import { type SessionService, consoleOperations } from "@payment-links/contracts";
import { createCookiePolicy } from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";
import {
  describeOperations,
  documentOptions,
  errorGuide,
  sessionSchemes,
} from "./describe-operations.ts";

type DocumentDependencies = Pick<Dependencies, "baseUrl" | "catalogue" | "clock">;

/**
 * Describes the operations of the console and the checkout as OpenAPI 3.1. Other services serve
 * some of them. Their responses are described in the contracts package, from which they also take
 * their routes.
 */
export const describeConsoleApi = ({ baseUrl, catalogue, clock }: DocumentDependencies) =>
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
          [sessionSchemes["auth-keys"]]: buildSessionScheme(baseUrl, "auth-keys"),
          [sessionSchemes["links-api"]]: buildSessionScheme(baseUrl, "links-api"),
          [sessionSchemes["webhook-dispatcher"]]: buildSessionScheme(baseUrl, "webhook-dispatcher"),
        },
      },
    },
    documentOptions,
  );

const buildSessionScheme = (baseUrl: string, service: SessionService) =>
  ({
    type: "apiKey",
    in: "cookie",
    name: createCookiePolicy(baseUrl, service).name,
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
