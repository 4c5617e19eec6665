"""A server with the module, for the benchmarks that measure commands."""

import os
import pathlib
import socket
import subprocess
import sys
import time

import redis


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(server, module, folder, *options):
    """The process of a server that answers, its port, and a client."""
    port = free_port()
    process = subprocess.Popen(
        [server, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder, *options,
         "--loadmodule", os.path.abspath(module)], stdout=subprocess.DEVNULL)
    client = redis.Redis(port=port, socket_timeout=600)
    for _ in range(500):
        try:
            client.ping()
            break
        except redis.RedisError:
            if process.poll() is not None:
                sys.exit(f"{pathlib.Path(sys.argv[0]).name}: the server ended; start it by hand to see why")
            time.sleep(0.02)
    return process, port, client
