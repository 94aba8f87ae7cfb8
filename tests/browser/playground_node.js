// Runs command lines in the playground's engine: node playground_node.js ENGINE < jobs.json > results.json
//
// jobs: [{words, write: {path: text}}]; results: [{status, out, error}], the texts in base64
"use strict";
const fs = require("fs");
const make = require(`${process.argv[2]}/engine.js`);

make({ wasmBinary: fs.readFileSync(`${process.argv[2]}/engine.wasm`) }).then((engine) => {
  const base64 = (path) => Buffer.from(engine.FS.readFile(path)).toString("base64");
  const run = ({ words, write }) => {
    for (const [path, content] of Object.entries(write)) engine.FS.writeFile(path, content);
    const bytes = new TextEncoder().encode(words.map((word) => `${word}\0`).join(""));
    const place = engine._malloc(bytes.length);
    engine.HEAPU8.set(bytes, place);
    const status = engine._debubble_run(place, bytes.length);
    engine._free(place);
    return { status, out: base64("/stdout"), error: base64("/stderr") };
  };
  const jobs = JSON.parse(fs.readFileSync(0, "utf8"));
  process.stdout.write(JSON.stringify(jobs.map(run)));
});
