import type { Request, Response } from "express";
import type { Refusal } from "@payment-links/contracts";
import { type Document, answerDocument, html } from "@payment-links/http";
import { assetUrl } from "./assets.ts";

/** Answers a page in the look of all our pages. */
export const answerPage = (res: Response, page: Omit<Document, "styleUrl">): void =>
  answerDocument(res, { ...page, styleUrl: assetUrl("page.css") });

const refusedTexts: Readonly<Record<number, { title: string; text: string }>> = {
  404: { title: "Not found", text: "There is nothing at this address. Please check the link." },
  429: { title: "Too many requests", text: "Please wait a moment, then load the page again." },
};

const failedText = { title: "Something went wrong", text: "Please try again in a moment." };

/** How a page answers a refusal: with its status, and in words for a person. */
export const answerPageRefusal = (refusal: Refusal, _req: Request, res: Response): void => {
  const { title, text } = refusedTexts[refusal.status] ?? failedText;
  const body = html`<main class="card">
    <h1>${title}</h1>
    <p>${text}</p>
  </main>`;
  answerPage(res, { title, body, status: refusal.status });
};
