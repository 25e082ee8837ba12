import type { Request, Response } from "express";
import { outgoing } from "@payment-links/bus";
import {
  type Account,
  type CreateLinkBody,
  checkoutPageUrl,
  linkCreated,
  newId,
} from "@payment-links/contracts";
import { answerJson, readBytes, readJson } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Deps } from "../deps.ts";
import { readIdempotencyKey } from "../domain/idempotency.ts";
import { linkState, openLink, readyAccount } from "../domain/link.ts";
import { insertLink } from "../store/links.ts";
import { answerOnce } from "./answer-once.ts";
import { createReferences } from "./payment-reference.ts";

/**
 * POST /v1/payment-link and POST /console/api/payment-links: an order becomes a link that settles to
 * the owner's default wallet. Without an idempotency key that is one statement.
 */
export const createLink =
  (deps: Deps) =>
  async (req: Request, res: Response, { account }: Caller): Promise<void> => {
    const idempotencyKey = readIdempotencyKey(req.get("idempotency-key"));
    const bytes = await readBytes(req);
    const open = () => openFor(deps, account, readJson(req, bytes, deps.createBody));
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

const openFor = (deps: Deps, account: Account, order: CreateLinkBody) => {
  const owner = readyAccount(account, deps.catalogue);
  const now = deps.clock.now();
  const id = newId("plink");
  const link = openLink(order, owner, { id, paymentReference: drawReference(), now });
  const data = { link: linkState(link, now) };
  return {
    link,
    event: outgoing(linkCreated, { key: id, occurredAt: now, data }),
    unwrittenOwner: deps.writtenAccounts.has(account) ? undefined : account,
    answer: { id, url: checkoutPageUrl(deps.checkoutUrl, owner.handle, id) },
  };
};
