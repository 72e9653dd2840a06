// One Python in the browser, with the simulator beside it. It answers one request at a time.

import { loadPyodide } from "./pyodide/pyodide.mjs";

const PREPARE = `
import json, sys
from pathlib import Path

sys.path.insert(0, "/airtcp")
from airtcp.web import worker
from airtcp.web.limits import Limits
from airtcp.web.uploads import Uploads

folder = Path("/tmp/uploads")
folder.mkdir()
uploads = Uploads(folder, Limits())

def upload(content):
    return uploads.add(content.to_bytes())

def answer(request):
    return worker.line(worker.answer(json.loads(request), folder, {}))

def perform(request, tell):
    end = worker.perform(json.loads(request), folder, lambda message: tell(worker.line(message)))
    if end:
        tell(worker.line(end))
`;
/** What a report draws with; only who asks for one loads it. */
const DRAWING = ["matplotlib"];

const ready = prepare();

/** The bytes of a file of the site, whatever type its server says that it has. */
async function bytes(name) {
  return (await fetch(new URL(name, import.meta.url))).arrayBuffer();
}

async function prepare() {
  const watch = (share) => globalThis.airtcpWatch(share);
  const core = bytes("core.wasm").then((module) => WebAssembly.instantiate(module, { airtcp: { watch } }));
  const files = bytes("airtcp.zip");
  const python = await loadPyodide({ indexURL: new URL("pyodide/", import.meta.url).href, packages: ["numpy", "pydantic", "scipy"] });
  globalThis.airtcpCore = (await core).instance.exports;
  python.unpackArchive(await files, "zip", { extractDir: "/airtcp" });
  python.runPython(PREPARE);
  return python;
}

self.onmessage = async ({ data: { kind, request } }) => {
  try {
    const python = await ready;
    const call = python.globals.get(kind);
    if (kind === "ready") {
      self.postMessage({ reply: null });
    } else if (kind === "perform") {
      if (request.body.kind === "report") await python.loadPackage(DRAWING);
      call(JSON.stringify(request), (message) => self.postMessage({ message: JSON.parse(message) }));
      self.postMessage({ reply: null });
    } else if (kind === "answer") {
      self.postMessage({ reply: JSON.parse(call(JSON.stringify(request))) });
    } else {
      self.postMessage({ reply: call(request) });
    }
  } catch (error) {
    self.postMessage({ error: String(error.message ?? error).trim().split("\n").at(-1) });
  }
};
