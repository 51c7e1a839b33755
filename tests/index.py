"""A package index on this machine: pure wheels with the days on which they were uploaded."""

from __future__ import annotations

import hashlib
import io
import json
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple


class Wheel(NamedTuple):
    """One module, which is the whole distribution.

    ``day``: of its upload, an ISO date; ``python``: which versions of it the wheel is for.
    """

    name: str
    version: str
    day: str
    text: str
    requires: tuple[str, ...] = ()
    python: str = ">=3.8"

    @property
    def filename(self) -> str:
        return f"{self.name}-{self.version}-py3-none-any.whl"

    def data(self) -> bytes:
        info = f"{self.name}-{self.version}.dist-info"
        metadata = f"Metadata-Version: 2.1\nName: {self.name}\nVersion: {self.version}\n"
        metadata += f"Requires-Python: {self.python}\n"
        metadata += "".join(f"Requires-Dist: {requirement}\n" for requirement in self.requires)
        files = {
            f"{self.name}.py": self.text,
            f"{info}/METADATA": metadata,
            f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        }
        record = "".join(f"{path},,\n" for path in (*files, f"{info}/RECORD"))
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            for path, text in {**files, f"{info}/RECORD": record}.items():
                archive.writestr(zipfile.ZipInfo(path), text)
        return stream.getvalue()


@contextmanager
def served(*wheels: Wheel) -> Iterator[str]:
    """The address of an index with these wheels."""
    data = {wheel.filename: wheel.data() for wheel in wheels}

    def project(name: str) -> Mapping[str, object]:
        files = [
            {
                "filename": wheel.filename,
                "url": f"/files/{wheel.filename}",
                "hashes": {"sha256": hashlib.sha256(data[wheel.filename]).hexdigest()},
                "upload-time": f"{wheel.day}T00:00:00Z",
                "requires-python": wheel.python,
            }
            for wheel in wheels
            if wheel.name == name
        ]
        return {"meta": {"api-version": "1.1"}, "name": name, "files": files}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            kind, _, name = self.path.strip("/").partition("/")
            if kind == "files" and name in data:
                self._answer(data[name], "application/octet-stream")
            elif kind == "simple" and project(name)["files"]:
                body = json.dumps(project(name)).encode()
                self._answer(body, "application/vnd.pypi.simple.v1+json")
            else:
                self.send_error(404)

        do_HEAD = do_GET

        def _answer(self, body: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/simple"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
