import type { Request, Response } from "express";
import type { ApiError, NotificationKind } from "@payment-links/contracts";
import { type Html, html, sendDocument } from "@payment-links/http";
import { getLanguage } from "./get-language.ts";
import { renderErrors } from "./render-errors.ts";
import { type UnsubscribeTexts, unsubscribeTexts } from "./unsubscribe-texts.ts";
import { unsubscribeTextsGerman } from "./unsubscribe-texts-german.ts";

const textsByLanguage = { en: unsubscribeTexts, de: unsubscribeTextsGerman };

/** Sends the page with the button that switches the kinds off. */
export const sendUnsubscribeQuestion = (
  exchange: Exchange,
  kinds: readonly NotificationKind[],
): void => {
  const texts = getTexts(exchange);
  sendPage(exchange, {
    title: texts.title,
    content: html`<p>${texts.question}</p>
      ${renderKinds(kinds, texts)}
      <form method="post">
        <button class="primary" type="submit" name="List-Unsubscribe" value="One-Click">
          ${texts.unsubscribe}
        </button>
      </form>`,
  });
};

/** Sends the page that says that the kinds are off. */
export const sendUnsubscribed = (exchange: Exchange, kinds: readonly NotificationKind[]): void => {
  const texts = getTexts(exchange);
  const content = html`<p>${texts.done}</p>
    ${renderKinds(kinds, texts)}`;
  sendPage(exchange, { title: texts.doneTitle, content });
};

/** Sends an error of an unsubscribe link as a page. */
export const sendUnsubscribeError = (apiError: ApiError, req: Request, res: Response): void => {
  const texts = getTexts({ req });
  const content = renderErrors(apiError, texts.errorTexts);
  sendPage({ req, res }, { title: texts.title, status: apiError.status, content });
};

type Exchange = { req: Request; res: Response };

const getTexts = ({ req }: Pick<Exchange, "req">): UnsubscribeTexts =>
  textsByLanguage[getLanguage(req)];

const renderKinds = (kinds: readonly NotificationKind[], texts: UnsubscribeTexts): Html =>
  html`<ul class="steps">
    ${kinds.map((kind) => html`<li>${texts.kinds[kind]}</li>`)}
  </ul>`;

type Page = { title: string; status?: number; content: Html };

const sendPage = ({ req, res }: Exchange, { title, status = 200, content }: Page): void => {
  const texts = getTexts({ req });
  res.vary("Accept-Language");
  sendDocument(res, {
    language: getLanguage(req),
    title: texts.pageTitle,
    status,
    styleUrl: "/checkout/assets/page.css",
    body: html`<main class="card plain">
      <h1>${title}</h1>
      ${content}
      <p><a href="/console/account/notifications">${texts.settings}</a></p>
    </main>`,
  });
};
