// From the text of a page's data block to bytes: base64, then a zlib stream.

// Chromium, Firefox and Safari have it since 2023; TypeScript 4.8 does not know it.
declare class DecompressionStream {
  constructor(format: "deflate");
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;
}

function decodeBase64(text: string): Uint8Array {
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let k = 0; k < bytes.length; ++k) bytes[k] = characters.charCodeAt(k);
  return bytes;
}

export async function unpack(text: string): Promise<Uint8Array> {
  const packed = new Blob([decodeBase64(text)]);
  const plain = packed.stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(plain).arrayBuffer());
}
