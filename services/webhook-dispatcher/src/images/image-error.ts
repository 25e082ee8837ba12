import type { OutcomeKind } from "../delivery/attempt/attempt-outcome.ts";

/**
 * Why an image is unavailable. There are only a few kinds, because they are values of a metric
 * label.
 */
export type ImageErrorKind =
  | Exclude<OutcomeKind, "delivered">
  | "redirects"
  | "encoded"
  | "too_large"
  | "wrong_type"
  | "busy";

/** Thrown if an image cannot be fetched or must not be shown. */
export class ImageError extends Error {
  readonly kind: ImageErrorKind;
  constructor(kind: ImageErrorKind) {
    super(`image unavailable: ${kind}`);
    this.name = "ImageError";
    this.kind = kind;
  }
}
