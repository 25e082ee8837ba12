import localesPlugin from "@react-aria/optimize-locales-plugin";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  root: import.meta.dirname,
  base: "/console/",
  publicDir: false,
  plugins: [
    // Must run before Vite resolves the modules that this plugin removes.
    { ...localesPlugin.vite({ locales: ["en-US", "de-DE"] }), enforce: "pre" },
    react(),
  ],
  build: {
    manifest: "manifest.json",
    // Links-api renders the HTML page, so the build starts from the script.
    rolldownOptions: { input: "app/main.tsx" },
    // Inlined files would be `data:` URLs, which the page's policy blocks.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    target: "baseline-widely-available",
  },
});
