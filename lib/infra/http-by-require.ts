import type { Plugin } from "esbuild";

const SPECIFIER = /^(node:)?http$/;

/**
 * Loads Node's `http` by `require`. An import reads every member of a built-in module, and reading `http.WebSocket` loads
 * the whole of the runtime's fetch, which most functions never use: a fifth of what their start costs.
 */
export const httpByRequire: Plugin = {
  name: "http-by-require",
  setup(build) {
    build.onResolve({ filter: SPECIFIER }, ({ kind }) =>
      kind === "require-call" ? { path: "node:http", external: true } : { path: "http", namespace: "by-require" },
    );
    build.onLoad({ filter: /^http$/, namespace: "by-require" }, () => ({
      contents: 'module.exports = require("node:http");',
      loader: "js",
    }));
  },
};
