export { personActor, placeOf } from "./actors.ts";
export { type Gate, writeFreshMs } from "./admit.ts";
export { type Document, answerDocument } from "./answer-document.ts";
export { answerRefusal } from "./answer-error.ts";
export { answerJson } from "./answer-json.ts";
export { type AppOptions, createApp } from "./app.ts";
export { type Language, type Translated, chooseLanguage } from "./choose-language.ts";
export { type CsvForm, csvForm } from "./csv-form.ts";
export { type DeepPages, createDeepPages } from "./deep-pages.ts";
export { type EventStreams, type Look, type Subject, createEventStreams } from "./event-streams.ts";
export { type Exports, type ReadPart, createExports, exportMsMax } from "./exports.ts";
export { fillHtml } from "./fill-html.ts";
export { Html, html } from "./html.ts";
export { type InternalRoute, createInternalApp } from "./internal-app.ts";
export { type Listening, PortTakenError, listen } from "./listen.ts";
export {
  bodyBytesMax,
  checkBodyHeaders,
  readBody,
  readBytes,
  readJson,
  readParam,
  readQuery,
} from "./read-request.ts";
export { type Route, keyRoute, publicRoute, sessionRoute } from "./route.ts";
export {
  type InternalPort,
  type ServeConfig,
  type Service,
  asHostName,
  drainMsMax,
  openInternalPort,
  serve,
  serveConfig,
} from "./serve.ts";
export {
  type CookiePolicy,
  type SessionTokens,
  cookiePolicy,
  endedSessionCookies,
  hostCookie,
  isInsecureOrigin,
  isLocalOrigin,
  readCookie,
  readSessionToken,
  refuseOtherSites,
  sessionCookies,
  sessionPaths,
  sessionTokenFor,
} from "./session-cookie.ts";
export { showPage } from "./show-page.ts";
export { writePart } from "./write-part.ts";
