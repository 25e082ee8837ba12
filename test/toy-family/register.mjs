// Preloaded into the services: imports of the folder of Tron get the toy family instead.
import { registerHooks } from "node:module";

const replacedFolder = new URL("../../packages/chains/src/tron/", import.meta.url).href;
const toyFolder = new URL("./family/", import.meta.url).href;

registerHooks({
  resolve: (specifier, context, nextResolve) => {
    const resolved = nextResolve(specifier, context);
    return { ...resolved, url: resolved.url.replace(replacedFolder, toyFolder) };
  },
});
