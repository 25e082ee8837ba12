/** A running set of the four services, however it is wired. */
export type System = {
  baseUrl: string;
  internalUrl: string;
  /** Everything that its processes have written. */
  output(): string;
  close(): Promise<void>;
};
