import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** Every address is relative to the page, so the same files serve below a stage, a custom domain and one machine. */
export default defineConfig({
  root: import.meta.dirname,
  base: "./",
  plugins: [react()],
  // `npx vite lib/console` while working on it, beside an `npm start`.
  server: { proxy: { "/api/v1": process.env["BRIDGE_URL"] ?? "http://127.0.0.1:8080" } },
  build: {
    target: "baseline-widely-available",
    assetsDir: "assets",
    assetsInlineLimit: 0, // the policy loads nothing from data: but images
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
