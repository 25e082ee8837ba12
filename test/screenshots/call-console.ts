import { call } from "../rig/client.ts";

type Request = { method?: "GET" | "POST" | "PATCH"; body?: object };

/** Calls the console API as a signed-in user. Throws if the call fails. */
export const callConsole = async (
  { baseUrl, cookie }: { baseUrl: string; cookie: string },
  path: string,
  { method = "POST", body }: Request,
) => {
  const headers = { cookie };
  const response = await call(`${baseUrl}/console/api/${path}`, { method, headers, body });
  if (response.status >= 300) throw new Error(`${path}: ${JSON.stringify(response.body)}`);
  return response.body;
};
