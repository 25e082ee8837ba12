import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** The folder with all data of the all-in-one process; to back it up, copy it while stopped. */
export type DataDir = {
  path: string;
  /** The database's folder. */
  postgres: string;
  /** The key that seals webhook secrets, and whether this start created it. */
  webhookSecretKeys: { value: string; isNew: boolean; file: string };
  /** The demo provider's secret; only if the folder was empty at first, and never in production. */
  demoSecret: string | undefined;
  /** Whether the demo account still has to be created. */
  isDemoWanted: boolean;
  markDemoCreated: () => void;
};

const privateFileMode = 0o600;

/** Prepares the folder and creates missing files, each readable only by its owner. */
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
  // A unique name: if the file is lost, its secrets are not attributed to the next key.
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
