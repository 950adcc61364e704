// Puts the compressed forms beside each file of the page, since the server compresses nothing on the fly.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const folder = "dist/page";
const worthIt = /\.(html|js|css|svg|json|webmanifest)$/;

for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !worthIt.test(entry.name)) continue;
  const path = join(entry.parentPath, entry.name);
  const plain = readFileSync(path);
  const options = {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: plain.length },
  };
  const forms = { ".br": brotliCompressSync(plain, options), ".gz": gzipSync(plain, { level: 9 }) };
  for (const [suffix, bytes] of Object.entries(forms)) {
    if (bytes.length < plain.length) writeFileSync(path + suffix, bytes);
  }
}
