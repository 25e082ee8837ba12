import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

/**
 * The folder with all data of the all-in-one process. To back it up, stop the process and copy the
 * folder.
 */
export type DataDir = {
  path: string;
  /** The database's folder. */
  postgres: string;
  /** The key that encrypts webhook secrets, and whether this start created it. */
  webhookSecretKeys: { value: string; isNew: boolean; file: string };
  /**
   * The secret of the demo provider. It exists only if the folder was empty at the first start, and
   * is never used in production.
   */
  demoSecret: string | undefined;
  /** Whether the demo account must still be created. */
  isDemoWanted: boolean;
  markDemoCreated: () => void;
};

const privateFileMode = 0o600;

/** Prepares the folder and creates missing files, which only their owner can read. */
export const prepareDataDir = (
  path: string,
  { isDemoAllowed }: { isDemoAllowed: boolean },
): DataDir => {
  const root = resolve(path);
  mkdirSync(root, { recursive: true, mode: 0o755 });
  const demoMarkerFile = join(root, "demo.wanted");
  const demoFile = join(root, "demo-provider.secret");
  if (isDemoAllowed && readdirSync(root).length === 0) {
    writeFileSync(demoMarkerFile, "", { mode: privateFileMode });
    readOrCreateSecret(demoFile, () => `whsec_${randomBytes(24).toString("base64")}`);
  }
  const keyFile = join(root, "secret.key");
  const isNew = !existsSync(keyFile);
  // The name is unique: if the file is lost, the next key must not have the same name, because it
  // cannot decrypt the old secrets.
  const createSealKey = () =>
    `local-${randomBytes(4).toString("hex")}=${randomBytes(32).toString("base64")}`;
  const value = readOrCreateSecret(keyFile, createSealKey);
  return {
    path: root,
    postgres: join(root, "postgres"),
    webhookSecretKeys: { value, isNew, file: keyFile },
    demoSecret:
      isDemoAllowed && existsSync(demoFile) ? readFileSync(demoFile, "utf8").trim() : undefined,
    isDemoWanted: isDemoAllowed && existsSync(demoMarkerFile),
    markDemoCreated: () => rmSync(demoMarkerFile, { force: true }),
  };
};

const readOrCreateSecret = (file: string, createSecret: () => string): string => {
  if (!existsSync(file))
    writeFileSync(file, `${createSecret()}\n`, { mode: privateFileMode, flag: "wx" });
  return readFileSync(file, "utf8").trim();
};
