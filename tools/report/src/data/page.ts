// The data of a page: its header, its documents, its runs. The format is in tools/report/README.md.
import { unpack } from "./bytes";
import { Run, RunHeader } from "./run";

export interface PageHeader {
  page_version: number;
  verb: string;
  command_line: string;
  tool: { name: string; version: string };
  title: string;
  verdict: string;
  answers: [string, string][];
  documents: { name: string; offset: number; bytes: number }[];
  runs: RunHeader[];
}

export class PageData {
  readonly runs: Run[];
  private readonly texts = new Map<string, string>();

  constructor(readonly header: PageHeader, private readonly bytes: Uint8Array) {
    this.runs = header.runs.map((run) => new Run(run, bytes));
  }

  get documents(): string[] {
    return this.header.documents.map((document) => document.name);
  }
  // What `--format json` printed, and other texts; empty where there is none of that name.
  text(name: string): string {
    const entry = this.header.documents.find((document) => document.name === name);
    if (entry === undefined) return "";
    let text = this.texts.get(name);
    if (text === undefined) {
      text = new TextDecoder().decode(this.bytes.subarray(entry.offset, entry.offset + entry.bytes));
      this.texts.set(name, text);
    }
    return text;
  }
}

export async function readPage(base64: string): Promise<PageData> {
  return pageOf(await unpack(base64));
}

// Of the bytes of a data block, decompressed.
export function pageOf(all: Uint8Array): PageData {
  const size = new DataView(all.buffer, all.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(all.subarray(4, 4 + size))) as PageHeader;
  if (header.page_version !== 1) throw new Error(`page_version ${header.page_version} is not 1`);
  return new PageData(header, all.subarray(4 + size));
}
