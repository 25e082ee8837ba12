import localesPlugin from "@react-aria/optimize-locales-plugin";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** What the console is built of, and how its files are named. */
export default defineConfig({
  root: import.meta.dirname,
  base: "/console/",
  publicDir: false,
  plugins: [
    // Before Vite resolves what it is to leave out.
    { ...localesPlugin.vite({ locales: ["en-US", "de-DE"] }), enforce: "pre" },
    react(),
  ],
  build: {
    manifest: "manifest.json",
    // Links-api writes the page; the script begins it.
    rolldownOptions: { input: "app/main.tsx" },
    // Inlined files would be `data:` addresses, which the page's policy stops.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    target: "baseline-widely-available",
  },
});
