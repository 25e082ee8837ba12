import { createDocument } from "zod-openapi";
import { type SessionService, consoleOperations } from "@payment-links/contracts";
import { createCookiePolicy } from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";
import {
  apiKeyScheme,
  describeOperations,
  documentOptions,
  errorGuide,
  sessionSchemes,
} from "./describe-operations.ts";

type DocumentDependencies = Pick<Dependencies, "baseUrl" | "catalogue" | "clock">;

/**
 * Describes the API of the console, the checkout and the command line as OpenAPI 3.1. This includes
 * operations that other services implement. All services take their routes and response schemas
 * from the contracts package, and so does this document.
 */
export const describeConsoleApi = ({ baseUrl, catalogue, clock }: DocumentDependencies) =>
  createDocument(
    {
      openapi: "3.1.1",
      info: {
        title: "Payment Links console, checkout and command line",
        version: "1.0.0",
        description:
          "The API of our own pages and of the command line, for signed-in users and for payers. It can change with " +
          "every release, so programs should use the API under /v1 instead. Requests from another site are not allowed. " +
          `Amounts are plain decimal strings.\n\n${errorGuide}`,
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
          apiKey: apiKeyScheme,
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
      "The session cookie. Signing in sets one cookie per service, limited to the paths of that service. A " +
      "browser or a cookie jar sends each cookie to its own service.",
  }) as const;

const tags = {
  Sessions: "Sign in and sign out.",
  Identities: "Linked identities that can sign in to the account.",
  Passkeys: "Passkeys (WebAuthn) that can sign in to the account.",
  Account: "Your account and its audit log.",
  Wallets: "Wallets that receive payments.",
  "API keys": "Keys for the API under /v1.",
  "Payment links": "Your payment links, their payments and deposits.",
  Webhooks: "Webhook endpoints and their deliveries.",
  Checkout: "How to pay a payment link. Available to anyone.",
  "Command line": "What the `payment-links` command uses.",
};
