export { createSessionActor, getRequestOrigin } from "./actors.ts";
export {
  type RequestAuthorizer,
  createAddressBucket,
  takeTokens,
  writeMaxAgeMs,
} from "./authorize-request.ts";
export { type HtmlDocument, sendDocument, setScriptedDocumentHeaders } from "./send-document.ts";
export { sendApiError } from "./send-api-error.ts";
export { sendJson } from "./send-json.ts";
export { type AppOptions, createApp } from "./app.ts";
export { type Translated, createLanguageNegotiator } from "./negotiate-language.ts";
export { exemptConnection } from "./connections.ts";
export { type CsvFormatter, createCsvFormatter } from "./csv-formatter.ts";
export { type DeepPages, createDeepPages } from "./deep-pages.ts";
export {
  type EventStreams,
  type Snapshot,
  type StreamSubject,
  createEventStreams,
} from "./event-streams.ts";
export { type Exports, type ReadPart, createExports, exportMsMax } from "./exports.ts";
export { fillHtml } from "./fill-html.ts";
export { Html, html } from "./html.ts";
export { type InternalRoute, createInternalApp } from "./internal-app.ts";
export { type LargeBodies, createLargeBodies } from "./large-bodies.ts";
export { type HttpListener, PortInUseError, listen } from "./listen.ts";
export {
  bodyBytesMax,
  checkBodyHeaders,
  readJsonBody,
  readBodyBytes,
  readForm,
  parseJsonBody,
  parsePathParameter,
  parseQuery,
} from "./parse-request.ts";
export { type Route, keyRoute, publicRoute, sessionRoute } from "./route.ts";
export {
  type InternalListener,
  type ServeConfig,
  type Service,
  toHostName,
  getDrainMsMax,
  startInternalListener,
  startListeners,
  serveConfig,
} from "./serve.ts";
export {
  type CookiePolicy,
  type SessionTokens,
  createCookiePolicy,
  serializeExpiredSessionCookies,
  serializeHostCookie,
  isInsecureOrigin,
  isLocalOrigin,
  readCookie,
  readSessionToken,
  rejectCrossSiteRequest,
  serializeSessionCookies,
  sessionCookiePaths,
  getSessionToken,
} from "./session-cookie.ts";
export { serializePage } from "./serialize-page.ts";
export {
  type StreamResponse,
  endStream,
  maintainStream,
  writeStreamHead,
} from "./stream-response.ts";
export { formatPart } from "./format-part.ts";
