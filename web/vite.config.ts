import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  plugins: [react()],
  build: {
    // Below a folder that is always there, since the program watches it: see build.rs.
    outDir: "dist/page",
    emptyOutDir: true,
    target: "es2022",
    // The page's policy lets in no `data:` scripts or styles, and a small file more costs nothing over one connection.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 700,
  },
  server: {
    // `npm run dev` beside a running `ringi serve --demo`.
    proxy: { "/api": { target: "http://127.0.0.1:8080" } },
  },
});
