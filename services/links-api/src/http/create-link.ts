import type { Request, Response } from "express";
import { createAuditEvent, createOutgoingEvent } from "@payment-links/bus";
import {
  type Account,
  type Actor,
  type CreateLinkBody,
  buildCheckoutPageUrl,
  linkCreated,
  newId,
} from "@payment-links/contracts";
import { sendJson, createSessionActor, readBodyBytes, parseJsonBody } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { parseIdempotencyKey } from "../domain/idempotency.ts";
import {
  type Link,
  type PayableAccount,
  toLinkState,
  buildLink,
  requirePayableAccount,
} from "../domain/link.ts";
import { insertLink } from "../store/links.ts";
import { createLinkIdempotently } from "./create-link-idempotently.ts";
import { createReferenceGenerator } from "./payment-reference.ts";
import {
  type NewLinkWithResponse,
  type PreparedLink,
  needsOwnAddress,
  insertPreparedLink,
} from "./insert-prepared-link.ts";

/**
 * POST /v1/payment-link and POST /console/api/payment-links: creates a link whose payments go to
 * the owner's default wallet. This takes one statement, except with an idempotency key and
 * for a link that needs its own address. The audit log records links that a person creates, but not links that are created with
 * an API key.
 */
export const createLink =
  (dependencies: Dependencies, callerKind: "key" | "person") =>
  async (req: Request, res: Response, { account, credential }: Caller): Promise<void> => {
    const idempotencyKey = parseIdempotencyKey(req.get("idempotency-key"));
    const bodyBytes = await readBodyBytes(req);
    const actor = callerKind === "person" ? createSessionActor(req, credential) : undefined;
    const creator = { account, createdBy: credential.id, actor };
    const prepare = () =>
      prepareLink(dependencies, creator, parseJsonBody(req, bodyBytes, dependencies.createBody));
    const { response, isNew } =
      idempotencyKey === undefined
        ? await insertWithoutIdempotencyKey(dependencies, prepare())
        : await createLinkIdempotently(
            dependencies,
            { ownerId: account.id, key: idempotencyKey, bodyBytes },
            prepare,
          );
    if (isNew) {
      dependencies.writtenAccounts.add(account);
      dependencies.counters.countCreatedLink();
      dependencies.wakeRelay();
    }
    sendJson(res, 200, response);
  };

const insertWithoutIdempotencyKey = async (dependencies: Dependencies, prepared: PreparedLink) => {
  if (needsOwnAddress(prepared)) {
    const { response } = await transact(dependencies.pool, (tx) =>
      insertPreparedLink(tx, prepared),
    );
    return { response, isNew: true };
  }
  const newLink = prepared.buildNewLink(prepared.owner.wallet.walletAddress);
  await insertLink(dependencies.pool, newLink);
  return { response: newLink.response, isNew: true };
};

const generateReference = createReferenceGenerator();

type LinkCreator = { account: Account; createdBy: string; actor: Actor | undefined };

const prepareLink = (
  dependencies: Dependencies,
  creator: LinkCreator,
  body: CreateLinkBody,
): PreparedLink => {
  const owner = requirePayableAccount(creator.account, dependencies.catalogue);
  const generated = {
    id: newId("plink"),
    paymentReference: generateReference(),
    now: dependencies.clock.now(),
  };
  const link = buildLink(body, owner, generated);
  return {
    owner,
    buildNewLink: (destinationAddress) =>
      buildNewLink(dependencies, creator, { ...link, destinationAddress }, owner),
  };
};

const buildNewLink = (
  dependencies: Dependencies,
  { account, createdBy, actor }: LinkCreator,
  link: Link,
  owner: PayableAccount,
): NewLinkWithResponse => {
  const { id, createdAt: now } = link;
  const data = { link: toLinkState(link, now) };
  const { chainId, destinationAddress } = link;
  const detail = { toAmount: link.toAmount.toFixed(), chainId, destinationAddress };
  const auditFields = {
    at: now,
    accountId: account.id,
    action: "payment_link.created" as const,
    targetId: id,
    detail,
  };
  return {
    link,
    createdBy,
    auditEvent: actor && createAuditEvent({ ...actor, ...auditFields }),
    event: createOutgoingEvent(linkCreated, { key: id, occurredAt: now, data }),
    ownerToStore: dependencies.writtenAccounts.has(account) ? undefined : account,
    response: { id, url: buildCheckoutPageUrl(dependencies.checkoutUrl, owner.handle, id) },
  };
};
