/** Saves an answer that needs a token, piece by piece, and says so when it broke off: a shorter file must not look whole. */

/** What a transfer is written to. */
interface Sink {
  write(chunk: Uint8Array<ArrayBuffer>): Promise<void>;
  close(): Promise<void>;
  abort(): Promise<void>;
}

type Picker = (options: {
  suggestedName: string;
}) => Promise<{ createWritable(): Promise<FileSystemWritableFileStream> }>;

async function toDisk(name: string): Promise<Sink | undefined> {
  const picker = (globalThis as { showSaveFilePicker?: Picker }).showSaveFilePicker;
  if (!picker || navigator.webdriver) return undefined;
  const file = await (await picker({ suggestedName: name })).createWritable();
  return { write: (chunk) => file.write(chunk), close: () => file.close(), abort: () => file.abort() };
}

function toMemory(name: string, type: string): Sink {
  const parts: BlobPart[] = [];
  return {
    async write(chunk) {
      parts.push(chunk);
    },
    async close() {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob(parts, { type }));
      link.download = name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    },
    async abort() {
      parts.length = 0;
    },
  };
}

/** Where it goes is asked before the transfer begins, as browsers want it: in the click itself. */
export function destination(name: string, type: string): Promise<Sink> {
  return toDisk(name).then((sink) => sink ?? toMemory(name, type));
}

/** Writes a whole body. Fails, and leaves no file, when the transfer breaks off. */
export async function save(response: Response, sink: Sink, onBytes: (bytes: number) => void): Promise<void> {
  const reader = response.body?.getReader();
  let bytes = 0;
  try {
    for (;;) {
      const piece = await reader?.read();
      if (!piece || piece.done) break;
      await sink.write(piece.value);
      bytes += piece.value.length;
      onBytes(bytes);
    }
  } catch (error) {
    await sink.abort();
    throw error;
  }
  await sink.close();
}
