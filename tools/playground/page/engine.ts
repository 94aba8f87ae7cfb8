// Engine: the worker as functions that answer later. The WebAssembly is in the page itself, or a file beside it.
import { unpack } from "../../report/src/data/bytes";
import { Answer, Job, JobResult, Ready, Start } from "./jobs";

async function embedded(id: string): Promise<Uint8Array | undefined> {
  const block = document.getElementById(id);
  if (block === null) return undefined;
  const bytes = await unpack(block.textContent!);
  block.remove();
  return bytes;
}

async function wasmOf(): Promise<ArrayBuffer> {
  const inside = await embedded("engine-wasm");
  if (inside !== undefined) return inside.buffer;
  const answer = await fetch("engine.wasm");
  if (!answer.ok) throw new Error(`engine.wasm: ${answer.status}`);
  return answer.arrayBuffer();
}

async function workerOf(): Promise<Worker> {
  const inside = await embedded("engine-script");
  if (inside === undefined) return new Worker("engine.js");
  return new Worker(URL.createObjectURL(new Blob([inside], { type: "text/javascript" })));
}

export class Engine {
  private readonly waiting = new Map<number, (results: JobResult[]) => void>();
  private last = 0;

  private constructor(private readonly worker: Worker) {}

  static async start(): Promise<Engine> {
    const [worker, wasm] = await Promise.all([workerOf(), wasmOf()]);
    const engine = new Engine(worker);
    await new Promise<void>((done, failed) => {
      worker.onerror = (event) => failed(new Error(event.message || "the engine could not be started"));
      worker.onmessage = ({ data }: MessageEvent<Ready | Answer>) => ("ready" in data ? done() : engine.take(data));
      const start: Start = { wasm };
      worker.postMessage(start, [wasm]);
    });
    return engine;
  }

  run(jobs: Job[]): Promise<JobResult[]> {
    const id = ++this.last;
    this.worker.postMessage({ id, jobs });
    return new Promise((done) => this.waiting.set(id, done));
  }

  async one(words: string[], write: Record<string, string> = {}, read: string[] = []): Promise<JobResult> {
    return (await this.run([{ words, write, read }]))[0]!;
  }

  private take({ id, results }: Answer): void {
    this.waiting.get(id)?.(results);
    this.waiting.delete(id);
  }
}
