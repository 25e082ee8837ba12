import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { waitUntil } from "@payment-links/runtime/testing";
import { findFreePorts } from "@payment-links/runtime/testing/free-port";
import { projectRoot } from "./child.ts";

/**
 * Starts a real nginx with the configuration of the compose ingress in front of one port that
 * serves all paths. It has one worker with one upstream connection. Leftover bytes on that
 * connection become the start of the next caller's request.
 */
export const startNginx = async (program: string, upstreamPort: number) => {
  const ingress = await readFile(join(projectRoot, "deploy/ingress.conf"), "utf8");
  return startNginxWithConfig(program, ({ directory, port }) => {
    const server = ingress
      .replace("listen 8080;", `listen 127.0.0.1:${port};`)
      .replaceAll(/http:\/\/[\w-]+:8080/g, "http://product");
    const tempPaths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
      .map((name) => `${name}_temp_path ${directory}/${name};`)
      .join("\n");
    return `master_process off;
worker_processes 1;
pid ${directory}/pid;
error_log stderr warn;
events { worker_connections 512; }
http {
  access_log off;
  ${tempPaths}
  upstream product { server 127.0.0.1:${upstreamPort}; keepalive 1; }
  ${server}
}
`;
  });
};

/** Starts a real nginx with a configuration for its own port and directory. */
export const startNginxWithConfig = async (
  program: string,
  buildConfig: (location: { directory: string; port: number }) => string,
) => {
  const directory = await mkdtemp(join(tmpdir(), "nginx-"));
  // If root starts nginx, its worker runs as another user.
  await chmod(directory, 0o777);
  const [port = 0] = await findFreePorts(1);
  await writeFile(join(directory, "nginx.conf"), buildConfig({ directory, port }));
  const args = ["-p", directory, "-c", join(directory, "nginx.conf"), "-g", "daemon off;"];
  const child = spawn(program, args, {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let output = "";
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const exited = once(child, "exit");
  const close = async () => {
    child.kill("SIGTERM");
    await exited;
    await rm(directory, { recursive: true, force: true });
  };
  try {
    await waitUntil(
      () => `nginx: ${output}`,
      () => isListening(port, child.exitCode),
    );
  } catch (error) {
    await close();
    throw error;
  }
  return { port, close };
};

const isListening = (port: number, exitCode: number | null): Promise<boolean> => {
  if (exitCode !== null) throw new Error(`nginx exited with ${exitCode}`);
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
};
