import type { Command } from "./command.ts";
import { createCompletion } from "./completion.ts";
import { doctor } from "./doctor.ts";
import { expire } from "./expire.ts";
import { linksCreate } from "./links-create.ts";
import { linksGet } from "./links-get.ts";
import { linksList } from "./links-list.ts";
import { linksWatch } from "./links-watch.ts";
import { listen } from "./listen.ts";
import { login } from "./login.ts";
import { logout } from "./logout.ts";
import { pay } from "./pay.ts";

/** Every command, in the order of the help. */
export const commands: readonly Command[] = [
  login,
  logout,
  linksCreate,
  linksList,
  linksGet,
  linksWatch,
  listen,
  pay,
  expire,
  doctor,
  createCompletion(() => commands),
];
