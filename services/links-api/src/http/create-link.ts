import type { Request, Response } from "express";
import { auditEvent, outgoing } from "@payment-links/bus";
import {
  type Account,
  type Actor,
  type CreateLinkBody,
  checkoutPageUrl,
  linkCreated,
  newId,
} from "@payment-links/contracts";
import { answerJson, personActor, readBytes, readJson } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Deps } from "../deps.ts";
import { readIdempotencyKey } from "../domain/idempotency.ts";
import { linkState, openLink, readyAccount } from "../domain/link.ts";
import { insertLink } from "../store/links.ts";
import { answerOnce } from "./answer-once.ts";
import { createReferences } from "./payment-reference.ts";

/**
 * POST /v1/payment-link and POST /console/api/payment-links: an order becomes a link that settles to
 * the owner's default wallet. Without an idempotency key that is one statement. What a person makes
 * stands in the audit log, what a key makes does not.
 */
export const createLink =
  (deps: Deps, by: "key" | "person") =>
  async (req: Request, res: Response, { account, credential }: Caller): Promise<void> => {
    const idempotencyKey = readIdempotencyKey(req.get("idempotency-key"));
    const bytes = await readBytes(req);
    const person = by === "person" ? personActor(req, credential) : undefined;
    const maker = { account, createdBy: credential.id, person };
    const open = () => openFor(deps, maker, readJson(req, bytes, deps.createBody));
    const { answer, isNew } =
      idempotencyKey === undefined
        ? await insertOpened(deps, open())
        : await answerOnce(deps, { ownerId: account.id, key: idempotencyKey, bytes }, open);
    if (isNew) {
      deps.writtenAccounts.add(account);
      deps.counters.created();
      deps.wakeRelay();
    }
    answerJson(res, 200, answer);
  };

const insertOpened = async (deps: Deps, opened: ReturnType<typeof openFor>) => {
  await insertLink(deps.pool, opened);
  return { answer: opened.answer, isNew: true };
};

const drawReference = createReferences();

type Maker = { account: Account; createdBy: string; person: Actor | undefined };

const openFor = (deps: Deps, { account, createdBy, person }: Maker, order: CreateLinkBody) => {
  const owner = readyAccount(account, deps.catalogue);
  const now = deps.clock.now();
  const id = newId("plink");
  const link = openLink(order, owner, { id, paymentReference: drawReference(), now });
  const data = { link: linkState(link, now) };
  const { chainId, destinationAddress } = link;
  const detail = { toAmount: link.toAmount.toFixed(), chainId, destinationAddress };
  const deed = {
    at: now,
    accountId: account.id,
    action: "payment_link.created",
    targetId: id,
    detail,
  };
  return {
    link,
    createdBy,
    deed: person && auditEvent({ ...person, ...deed }),
    event: outgoing(linkCreated, { key: id, occurredAt: now, data }),
    unwrittenOwner: deps.writtenAccounts.has(account) ? undefined : account,
    answer: { id, url: checkoutPageUrl(deps.checkoutUrl, owner.handle, id) },
  };
};
