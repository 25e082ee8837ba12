import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** The folder in which the all-in-one keeps everything; copy it while stopped to back it up. */
export type DataDir = {
  path: string;
  /** The database's folder. */
  postgres: string;
  /**
   * The key that seals webhook secrets, made at the first start, and whether this is the first
   * start.
   */
  webhookSecretKeys: { value: string; isNew: boolean; file: string };
  /** The demo provider's secret; only in a folder that was empty, and not in production. */
  demoSecret: string | undefined;
  /** Whether the demo account still has to be made. */
  isDemoWanted: boolean;
  demoIsMade: () => void;
};

const privateMode = 0o600;

/** Opens the folder and makes what is missing in it, each file readable by its owner alone. */
export const openDataDir = (path: string, { withDemo }: { withDemo: boolean }): DataDir => {
  const root = resolve(path);
  mkdirSync(root, { recursive: true, mode: 0o755 });
  const wanted = join(root, "demo.wanted");
  const demoFile = join(root, "demo-provider.secret");
  if (withDemo && readdirSync(root).length === 0) {
    writeFileSync(wanted, "", { mode: privateMode });
    keep(demoFile, () => `whsec_${randomBytes(24).toString("base64")}`);
  }
  const keyFile = join(root, "secret.key");
  const isNew = !existsSync(keyFile);
  // A name of its own: should the file be lost, its secrets are not taken for those of the next one.
  const makeKey = () =>
    `local-${randomBytes(4).toString("hex")}=${randomBytes(32).toString("base64")}`;
  const value = keep(keyFile, makeKey);
  return {
    path: root,
    postgres: join(root, "postgres"),
    webhookSecretKeys: { value, isNew, file: keyFile },
    demoSecret:
      withDemo && existsSync(demoFile) ? readFileSync(demoFile, "utf8").trim() : undefined,
    isDemoWanted: withDemo && existsSync(wanted),
    demoIsMade: () => rmSync(wanted, { force: true }),
  };
};

const keep = (file: string, make: () => string): string => {
  if (!existsSync(file)) writeFileSync(file, `${make()}\n`, { mode: privateMode, flag: "wx" });
  return readFileSync(file, "utf8").trim();
};
