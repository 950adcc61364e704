import { defineConfig } from "vitest/config";

/** Tests in a real browser against the real program: one file after the other, since each starts its own. */
const browser = (name: string, include: string[]) => ({
  test: {
    name,
    include,
    environment: "node" as const,
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});

export default defineConfig({
  test: {
    projects: [
      { test: { name: "unit", include: ["src/**/*.test.ts"], environment: "node" } },
      browser("browser", ["e2e/**/*.test.ts"]),
      browser("screenshots", ["e2e/screenshots.ts"]),
      browser("measure", ["e2e/measure.ts"]),
    ],
  },
});
