import { defineConfig } from "vite";

/** The page as plain files: hashed names, nothing inline, nothing from another host. tools/build-dashboard.ts runs it. */
export default defineConfig({
  root: import.meta.dirname,
  base: "/",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "../dist/page",
    target: "esnext",
    cssTarget: "chrome125",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // What others have made and this contains, with their terms.
    license: { fileName: "licenses.txt" },
    reportCompressedSize: false,
  },
});
