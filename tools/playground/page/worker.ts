// Runs in a worker, beside Emscripten's code of the engine: one command line after another, as the command would.
import { Answer, Job, JobResult, Ready, Request, Start } from "./jobs";

interface Files {
  readFile(path: string): Uint8Array;
  writeFile(path: string, text: string): void;
  unlink(path: string): void;
  analyzePath(path: string): { exists: boolean };
}

interface Engine {
  FS: Files;
  HEAPU8: Uint8Array;
  _malloc(bytes: number): number;
  _free(place: number): void;
  _debubble_run(words: number, bytes: number): number;
}

declare function debubbleEngine(options: { wasmBinary: ArrayBuffer }): Promise<Engine>;

const page = self as unknown as {
  onmessage: (event: MessageEvent<Start | Request>) => void;
  postMessage(message: Ready | Answer, transfer?: Transferable[]): void;
};

function run(engine: Engine, { words, write, read }: Job): JobResult {
  for (const [path, text] of Object.entries(write)) engine.FS.writeFile(path, text);
  const bytes = new TextEncoder().encode(words.map((word) => `${word}\0`).join(""));
  const place = engine._malloc(bytes.length);
  engine.HEAPU8.set(bytes, place);
  const status = engine._debubble_run(place, bytes.length);
  engine._free(place);
  const files: Record<string, Uint8Array> = {};
  for (const path of read) {
    if (!engine.FS.analyzePath(path).exists) continue;
    files[path] = engine.FS.readFile(path);
    engine.FS.unlink(path);
  }
  const text = (path: string): string => new TextDecoder().decode(engine.FS.readFile(path));
  return { status, out: text("/stdout"), error: text("/stderr"), files };
}

let engine: Promise<Engine> | undefined;

page.onmessage = async ({ data }): Promise<void> => {
  if ("wasm" in data) {
    engine = debubbleEngine({ wasmBinary: data.wasm });
    await engine;
    page.postMessage({ ready: true });
    return;
  }
  const ready = await engine!;
  const results = data.jobs.map((job) => {
    try {
      return run(ready, job);
    } catch (error) {
      return { status: 70, out: "", error: `the engine failed: ${String(error)}; load the page again`, files: {} };
    }
  });
  const files = results.flatMap((result) => Object.values(result.files).map((bytes) => bytes.buffer));
  page.postMessage({ id: data.id, results }, files);
};
