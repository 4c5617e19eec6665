"""Web servers for the tests: a real nginx, and one that answers wrongly on purpose. A test imports the fixtures:

    from web_servers import nginx, served, surroundings
"""

import contextlib
import dataclasses
import http.server
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time

import pytest

CONFIGURATION = """
daemon off;
{user}
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 64; }}
http {{
  log_format asked '$request_uri|$status|$body_bytes_sent|$http_range';
  access_log {folder}/access.log asked;
  types {{ text/html html; text/javascript js; application/wasm wasm; }}
  client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
  uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
  server {{
    listen 127.0.0.1:{port};
    {tls}
    root {root};
    location /whole/ {{ alias {root}/; max_ranges 0; }}
    location /single/ {{ alias {root}/; max_ranges 1; }}
    location /moved/ {{ rewrite ^/moved/(.*)$ /$1 redirect; }}
    location /shared/ {{
      alias {root}/;
      add_header Access-Control-Allow-Origin *;
      add_header Access-Control-Expose-Headers "Content-Range, ETag";
    }}
    location /hidden/ {{ alias {root}/; add_header Access-Control-Allow-Origin *; }}
    location /slow/ {{ alias {root}/; limit_rate 1m; }}
    location /loop {{ return 302 /loop; }}
    location /secret/ {{ return 403; }}
  }}
}}
"""


@dataclasses.dataclass
class Request:
    path: str
    status: int
    sent: int  # bytes of the body
    ranges: list  # (first, last) of each range


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Nginx:
    def __init__(self, work, root, tls=None):
        self.folder, self.port = work, free_port()
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"
        certificate = "" if tls is None else f"ssl_certificate {tls[0]}; ssl_certificate_key {tls[1]};"
        text = CONFIGURATION.format(folder=work, root=root, port=self.port, tls=certificate,
                                    user="user root;" if os.geteuid() == 0 else "")
        if tls:
            text = text.replace(f"listen 127.0.0.1:{self.port};", f"listen 127.0.0.1:{self.port} ssl http2;")
        (work / "nginx.conf").write_text(text)
        program = shutil.which("nginx") or "/usr/sbin/nginx"
        self.process = subprocess.Popen([program, "-p", work, "-c", work / "nginx.conf"],
                                        stderr=(work / "stderr").open("w"))
        for _ in range(200):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            assert self.process.poll() is None, (work / "stderr").read_text()
            time.sleep(0.05)
        raise AssertionError("nginx does not listen")

    def requests(self):
        """Those since the last call, once all are in the log."""
        log = self.folder / "access.log"
        text = log.read_text()
        for _ in range(100):
            time.sleep(0.02)
            if log.read_text() == text and text:
                break
            text = log.read_text()
        log.write_text("")
        found = []
        for line in text.splitlines():
            path, status, sent, ranges = line.split("|")
            found.append(Request(path, int(status), int(sent),
                                 [(int(a), int(b)) for a, b in re.findall(r"(\d+)-(\d+)", ranges)]))
        return found

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(20)


@pytest.fixture(autouse=True)
def surroundings(monkeypatch):
    """Without a proxy or certificates of the machine."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    for variable in ("CURL_CA_BUNDLE", "SSL_CERT_FILE"):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def served(tmp_path):
    """The folder that nginx serves."""
    folder = tmp_path / "served"
    folder.mkdir()
    return folder


@pytest.fixture
def nginx(tmp_path, served):
    """nginx over the folder `served`; .url, .requests()."""
    work = tmp_path / "nginx"
    work.mkdir()
    server = Nginx(work, served)
    yield server
    server.stop()


@pytest.fixture
def secure_nginx(tmp_path, served):
    """The same over https, with a certificate of its own: .certificate."""
    work = tmp_path / "nginx-tls"
    work.mkdir()
    certificate, key = work / "cert.pem", work / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
                   check=True, capture_output=True)
    server = Nginx(work, served, (certificate, key))
    server.certificate = certificate
    yield server
    server.stop()


class Answer:
    """What a wrong server sends for a request. A test changes it."""

    def __init__(self, file, first, last):
        self.body = file[first:last + 1]
        self.status = 206
        self.headers = {"Content-Range": f"bytes {first}-{last}/{len(file)}", "ETag": '"one"'}
        self.length = None  # of Content-Length; default: that of the body
        self.delay = 0  # seconds before the answer
        self.pause = 0  # seconds before the last byte
        self.close = False  # without an answer


@pytest.fixture
def wrong_server():
    """wrong_server(file, change): serves the bytes. change(number, first, last, answer) changes the answer to request
    `number`, counted from 0. Returns the URL; .asked is the number of requests."""
    servers = []

    def start(file, change):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                number = server.asked
                server.asked += 1
                ranges = re.findall(r"(\d+)-(\d*)", self.headers.get("Range", "0-"))
                first = int(ranges[0][0])
                last = min(int(ranges[0][1] or len(file) - 1), len(file) - 1)
                answer = Answer(file, first, last)
                change(number, first, last, answer)
                time.sleep(answer.delay)
                if answer.close:
                    self.close_connection = True
                    return
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", len(answer.body) if answer.length is None else answer.length)
                self.end_headers()
                with contextlib.suppress(OSError):
                    if answer.pause:
                        self.wfile.write(answer.body[:-1])
                        self.wfile.flush()
                        time.sleep(answer.pause)
                        self.wfile.write(answer.body[-1:])
                    else:
                        self.wfile.write(answer.body)
                if answer.length is not None:
                    self.close_connection = True

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        server.asked = 0
        server.url = f"http://127.0.0.1:{server.server_port}/f.bloom"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()
