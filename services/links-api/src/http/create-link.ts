import assert from "node:assert/strict";
import type { Request, Response } from "express";
import type * as z from "zod";
import { createAuditEvent, createOutgoingEvent } from "@payment-links/bus";
import { type LinkAddresses, getFamily } from "@payment-links/chains";
import {
  type Account,
  type Actor,
  type Mode,
  ModeQuery,
  PaymentLinkCreationData,
  buildCheckoutPageUrl,
  ignoredFieldsHeader,
  linkCreated,
  listIgnoredFields,
  newId,
} from "@payment-links/contracts";
import {
  createSessionActor,
  parseJsonBody,
  parseQuery,
  readBodyBytes,
  sendJson,
} from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { type Transaction, transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { parseIdempotencyKey } from "../domain/idempotency.ts";
import {
  type Link,
  type PayableAccount,
  toLinkState,
  buildLink,
  requirePayableAccount,
} from "../domain/link.ts";
import { allocateAddressIndex, insertAddress } from "../store/link-addresses.ts";
import { type NewLink, insertLink } from "../store/links.ts";
import { reserveAddresses } from "../store/reserve-addresses.ts";
import { createReferenceGenerator } from "./payment-reference.ts";
import { runOnce } from "./run-once.ts";

/** A request to create a link, whose body is not parsed yet. `actor` is set for a person. */
type CreateRequest = {
  req: Request;
  bodyBytes: Buffer;
  account: Account;
  mode: Mode;
  createdBy: string;
  actor: Actor | undefined;
};

/**
 * POST /v1/payment-link and POST /console/api/payment-links: creates a link whose payments go to
 * the owner's default wallet of its mode, which is the key's or the one in the query. This takes
 * one statement, except with an idempotency key and for a link that needs its own address. The
 * audit log records links that a person creates, but not links that are created with an API key.
 */
export const createLink =
  (dependencies: Dependencies, callerKind: "key" | "person") =>
  async (req: Request, res: Response, { account, credential }: Caller): Promise<void> => {
    const key = parseIdempotencyKey(req.get("idempotency-key"));
    const bodyBytes = await readBodyBytes(req);
    const actor = callerKind === "person" ? createSessionActor(req, credential) : undefined;
    const mode = callerKind === "person" ? parseQuery(req, ModeQuery).mode : credential.mode;
    const request = {
      req,
      bodyBytes,
      account,
      mode: mode ?? "live",
      createdBy: credential.id,
      actor,
    };
    const { response, isNew } =
      key === undefined
        ? { response: await createNewLink(dependencies, request), isNew: true }
        : await createLinkOnce(dependencies, request, key);
    if (isNew) {
      dependencies.writtenAccounts.add(account);
      dependencies.counters.countCreatedLink();
      dependencies.wakeRelay();
    }
    // Parses the body again, because a repeated request returns its stored response unparsed.
    const ignoredFields = listIgnoredFields(JSON.parse(utf8Decoder.decode(bodyBytes)));
    if (ignoredFields.length > 0) {
      res.setHeader(ignoredFieldsHeader, ignoredFields.join(", "));
      if (callerKind === "key")
        await dependencies.recordIgnoredFields(
          { id: credential.id, userId: account.id, mode: request.mode },
          ignoredFields,
        );
    }
    sendJson(res, 200, response);
  };

const utf8Decoder = new TextDecoder();

/**
 * Creates at most one link for each owner, mode and idempotency key. Returns the first response for
 * a repeated request.
 */
const createLinkOnce = (dependencies: Dependencies, request: CreateRequest, key: string) => {
  const { account, bodyBytes, mode } = request;
  const scope = mode === "live" ? account.id : `${account.id}/test`;
  const idempotentRequest = { scope, key, bodyBytes, schema: PaymentLinkCreationData };
  return runOnce(dependencies, idempotentRequest, (tx) => createNewLink(dependencies, request, tx));
};

/** Parses the body, builds the link and inserts it with its event. */
const createNewLink = async (
  dependencies: Dependencies,
  request: CreateRequest,
  tx?: Transaction,
): Promise<z.output<typeof PaymentLinkCreationData>> => {
  const { catalogue, checkoutUrl, clock, createBody, pool } = dependencies;
  const body = parseJsonBody(request.req, request.bodyBytes, createBody);
  const owner = requirePayableAccount(request.account, catalogue, request.mode);
  const generated = {
    id: newId("plink"),
    paymentReference: generateReference(),
    now: clock.now(),
  };
  const link = buildLink(body, owner, generated);
  const { linkAddresses } = getFamily(owner.token.chain.chainType);
  if (linkAddresses === undefined) {
    const { walletAddress: destinationAddress } = owner.wallet;
    const newLink = buildNewLink(dependencies, request, { ...link, destinationAddress });
    await insertLink(tx ?? pool, newLink);
  } else {
    const linkParts = { request, owner, linkAddresses, link };
    await (tx === undefined
      ? transact(pool, (ownTx) => insertLinkWithOwnAddress(ownTx, dependencies, linkParts))
      : insertLinkWithOwnAddress(tx, dependencies, linkParts));
  }
  return { id: link.id, url: buildCheckoutPageUrl(checkoutUrl, owner.handle, link.id) };
};

const generateReference = createReferenceGenerator();

/**
 * Inserts a link with an address of the owner's key that no other link has had or will get (rule
 * API-33).
 */
const insertLinkWithOwnAddress = async (
  tx: Transaction,
  dependencies: Dependencies,
  {
    request,
    owner: { token, wallet },
    linkAddresses,
    link,
  }: {
    request: CreateRequest;
    owner: PayableAccount;
    linkAddresses: LinkAddresses;
    link: Omit<Link, "destinationAddress">;
  },
): Promise<void> => {
  const { firstAddressIndex: firstIndex = 0, walletAddress: key } = wallet;
  const chainId = token.chain.id;
  const keyId = linkAddresses.computeKeyId(chainId, key);
  const { index, reservedTo } = await allocateAddressIndex(tx, { keyId, firstIndex });
  const range = { startIndex: index, count: 1 };
  const [address] = linkAddresses.deriveAddresses(chainId, key, range);
  assert.ok(address !== undefined, "no address was derived from the wallet's key");
  const newLink = buildNewLink(dependencies, request, { ...link, destinationAddress: address });
  await insertLink(tx, newLink);
  await insertAddress(tx, { keyId, index, address, linkId: link.id });
  const walletKey = { chainId, key, keyId, linkAddresses };
  const addressRange = { nextIndex: index + 1, reservedTo, now: link.createdAt };
  await reserveAddresses(tx, walletKey, addressRange);
};

const buildNewLink = (
  { writtenAccounts }: Dependencies,
  { account, actor, createdBy }: CreateRequest,
  link: Link,
): NewLink => {
  const { id, chainId, createdAt: now, destinationAddress } = link;
  const data = { link: toLinkState(link, now) };
  return {
    link,
    createdBy,
    auditEvent:
      actor &&
      createAuditEvent({
        ...actor,
        at: now,
        accountId: account.id,
        action: "payment_link.created",
        targetId: id,
        detail: { toAmount: link.toAmount.toFixed(), chainId, destinationAddress },
      }),
    event: createOutgoingEvent(linkCreated, { key: id, occurredAt: now, data }),
    ownerToStore: writtenAccounts.has(account) ? undefined : account,
  };
};
