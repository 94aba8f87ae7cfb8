#!/usr/bin/env python3
"""Puts the playground together: a folder for a web host, and one file that opens from disk.

    assemble.py ENGINE BUNDLES TO      ENGINE/engine.{js,wasm}, BUNDLES/{main,worker}.js and page.css
"""

import base64
import pathlib
import sys
import zlib

POLICY = {
    "site": "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; "
            "connect-src 'self'; worker-src 'self'; img-src data: blob:",
    "file": "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval'; style-src 'unsafe-inline'; "
            "worker-src blob:; img-src data: blob:",
}


def page(kind, style, body):
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY[kind]}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>debubble playground</title>
{style}
</head>
<body>
<main id="page"><p>The simulator is being loaded ...</p></main>
<noscript><p>The playground computes in the browser, which needs JavaScript.</p></noscript>
{body}
</body>
</html>
"""


def block(name, data):
    """As tools/report/src/data/bytes.ts reads it."""
    packed = base64.b64encode(zlib.compress(data, 9)).decode()
    return f'<script type="application/octet-stream" id="{name}">{packed}</script>'


def main():
    engine, bundles, to = map(pathlib.Path, sys.argv[1:])
    worker = (engine / "engine.js").read_bytes() + b"\n" + (bundles / "worker.js").read_bytes()
    wasm = (engine / "engine.wasm").read_bytes()
    script, style = ((bundles / name).read_text(encoding="ascii") for name in ("main.js", "page.css"))
    if "</script" in script.lower() or "<!--" in script or "</style" in style.lower():
        sys.exit("error: a bundle would end the element that it is in")
    to.mkdir(parents=True, exist_ok=True)
    (to / "playground.js").write_text(script)
    (to / "playground.css").write_text(style)
    (to / "engine.js").write_bytes(worker)
    (to / "engine.wasm").write_bytes(wasm)
    (to / "index.html").write_text(page("site", '<link rel="stylesheet" href="playground.css">',
                                        '<script src="playground.js"></script>'))
    blocks = block("engine-script", worker) + "\n" + block("engine-wasm", wasm)
    (to / "debubble-playground.html").write_text(page("file", f"<style>{style}</style>", f"{blocks}\n<script>{script}</script>"))
    for path in sorted(to.iterdir()):
        print(f"{path}  {path.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
