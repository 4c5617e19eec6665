"""examples/block-list-dns: a DNS server denies the names of a list and what is below them, and passes other queries on."""

import os
import signal
import subprocess
import sys

import engines
from conftest import PROGRAM, ROOT

engines.need("dns", "dnslib==0.9.26")

from dnslib import QTYPE, RCODE, RR, A, DNSRecord  # noqa: E402
from dnslib.server import BaseResolver, DNSLogger, DNSServer  # noqa: E402

LISTED = [f"site{i}.example" for i in range(2000)] + ["ads.shop.example", "zip"]


class everything(BaseResolver):
    """Answers each name with one address."""

    def resolve(self, request, handler):
        reply = request.reply()
        reply.add_answer(RR(request.q.qname, QTYPE.A, rdata=A("192.0.2.7")))
        return reply


def test_listed_names_and_those_below_are_denied(tmp_path):
    (tmp_path / "list").write_text("".join(f"||{name}^\n" for name in LISTED[:-1]))
    # The rate is so high that the list itself has to decide.
    subprocess.run([PROGRAM, "build", "-q", "--fpr", "20%", "--keys", "domain:adblock", "-o", "f.bloom", "list"],
                   cwd=tmp_path, check=True)
    (tmp_path / "sorted").write_text("".join(f"{name}\n" for name in sorted(LISTED[:-1])))
    upstream = DNSServer(everything(), address="127.0.0.1", port=0, logger=DNSLogger("error"))
    upstream.start_thread()
    upstream_port = upstream.server.server_address[1]
    server = subprocess.Popen(
        [sys.executable, ROOT / "examples" / "block-list-dns" / "serve", "--filter", "f.bloom", "--list", "sorted", "--port", "0",
         "--upstream", "127.0.0.1", "--upstream-port", str(upstream_port)],
        cwd=tmp_path, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(engines.FOLDER / "dns"), os.environ.get("PYTHONPATH", "")])})
    try:
        port = int(server.stdout.readline().rsplit(" ", 1)[1])

        def answer(name):
            reply = DNSRecord.parse(DNSRecord.question(name).send("127.0.0.1", port, timeout=20))
            return RCODE.NXDOMAIN if reply.header.rcode == RCODE.NXDOMAIN else str(reply.rr[0].rdata)

        listed = ["site0.example", "SITE7.example.", "www.site1999.example", "x.ads.shop.example"]
        others = ["shop.example", "example", "notsite0.example", *(f"other{i}.example" for i in range(60))]
        assert [answer(name) for name in listed] == [RCODE.NXDOMAIN] * len(listed)
        assert [answer(name) for name in others] == ["192.0.2.7"] * len(others)
        server.send_signal(signal.SIGTERM)
        counts = dict(each.rsplit(" ", 1) for each in server.stdout.read().strip().split(", "))
        assert int(counts["queries"]) == len(listed) + len(others) and int(counts["blocked"]) == len(listed)
        # 63 names and their parents at 20%: none passes with a chance of 10^-6.
        assert int(counts["maybe"]) > len(listed)
    finally:
        server.kill()
        upstream.stop()
