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
    // The build starts from the script, because links-api renders the HTML page.
    rolldownOptions: { input: "app/main.tsx" },
    // Inlined files would be `data:` URLs, which the page's content security policy blocks.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    target: "baseline-widely-available",
  },
});
