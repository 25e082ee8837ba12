/** The four running services, independent of how they are connected. */
export type System = {
  baseUrl: string;
  internalUrl: string;
  /** Returns the output of all its processes. */
  output(): string;
  close(): Promise<void>;
};
