import type { OutcomeKind } from "../delivery/attempt/attempt-outcome.ts";

/** Why an image is unavailable. There are few kinds because they are a metric label. */
export type ImageErrorKind =
  | Exclude<OutcomeKind, "delivered">
  | "redirects"
  | "encoded"
  | "too_large"
  | "wrong_type"
  | "busy";

/** A host's response is not an image that may be shown. */
export class ImageError extends Error {
  readonly kind: ImageErrorKind;
  constructor(kind: ImageErrorKind) {
    super(`image unavailable: ${kind}`);
    this.name = "ImageError";
    this.kind = kind;
  }
}
