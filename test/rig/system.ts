/** A running set of the four services, however they are connected. */
export type System = {
  baseUrl: string;
  internalUrl: string;
  /** Returns everything that its processes have written. */
  output(): string;
  close(): Promise<void>;
};
