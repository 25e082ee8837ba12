import { installWithApt } from "../rig/install-with-apt.ts";
import { hasJava, hasMaven } from "./programs.ts";

/**
 * Returns true if Java and Maven are on the PATH. If they are missing and the user is root,
 * installs Debian's packages first. Debian's default Java is 17 or newer since Debian 12.
 */
export const ensureJavaAndMaven = async (): Promise<boolean> => {
  if (!(await hasJavaAndMaven())) await installWithApt("mvn", ["default-jre-headless", "maven"]);
  return await hasJavaAndMaven();
};

const hasJavaAndMaven = async (): Promise<boolean> => (await hasJava()) && (await hasMaven());
