// What the page and its worker say to each other.

export interface Job {
  words: string[]; // of the command line, without "debubble"
  write: Record<string, string>; // files that it reads
  read: string[]; // files that it writes
}

export interface JobResult {
  status: number;
  out: string;
  error: string;
  files: Record<string, Uint8Array>;
}

export interface Start {
  wasm: ArrayBuffer;
}
export interface Ready {
  ready: true;
}
export interface Request {
  id: number;
  jobs: Job[];
}
export interface Answer {
  id: number;
  results: JobResult[];
}
