import type { ConfigFiles } from "./config-files.ts";

/** Files that are a map; a test changes it as a kubelet changes a mount. An include names one of them in full. */
export const memoryFiles = (files: Map<string, string>): ConfigFiles => ({
  read: (path) => files.get(path),
  match: (path) => (files.has(path) ? [path] : []),
});
