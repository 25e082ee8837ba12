import { stripTypeScriptTypes } from "node:module";

// Node's own type stripping, so that tests run the very text that services run: types become
// blanks, and every line and column in a stack trace stays true without a source map.
const strip = (source) => ({ code: stripTypeScriptTypes(source, { mode: "strip" }) });

export default { process: strip, processAsync: async (source) => strip(source) };
