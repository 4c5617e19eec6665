"""A server of PostgreSQL with the extension, in a temporary folder and on a Unix socket.

The server finds its libraries and extensions by the path of its program. So the tree has a copy of
the program, links to what is installed, and the extension as `cmake --install` puts it there;
nothing is written elsewhere. As root, the server runs as Debian's user `postgres`."""

import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time

BUILD = pathlib.Path(os.environ.get("BLOOMSET", pathlib.Path(__file__).resolve().parents[2] / "build" / "bloomset")).parent
# The newest that is installed.
VERSION = max((each.name for each in pathlib.Path("/usr/lib/postgresql").glob("*")), key=int, default="")
INSTALLED = pathlib.Path("/usr/lib/postgresql") / VERSION
SHARED = pathlib.Path("/usr/share/postgresql") / VERSION


def missing():
    """Why there can be no server, or None."""
    if not (BUILD / "integrations" / "postgres" / "bloomset.so").exists():
        return "the extension of PostgreSQL is not built (BLOOMSET_POSTGRES)"
    if not (INSTALLED / "bin" / "postgres").exists():
        return "the package postgresql is missing"
    return None


def require():
    """Skips the tests where there can be no server, or fails with BLOOMSET_NEEDS_ENGINES."""
    sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "python"))
    import engines

    if missing():
        engines.missing(missing())


class Server:
    def __init__(self, **settings):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="bloomset-postgres-", dir="/tmp"))
        self.folder.chmod(0o755)
        self.data = self.folder / "data"
        self.process = None
        self.user = pwd.getpwuid(os.geteuid()).pw_name
        self.as_user = []
        if os.geteuid() == 0:
            self.user = "postgres"
            # The server refuses to run as root. It may read like root, for root folders that are closed to others.
            self.as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups",
                            "--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search",
                            "--securebits=+no_setuid_fixup"]  # access() heeds the right to read, too
        self.bin = self.folder / INSTALLED.relative_to("/") / "bin"
        self.env = {**os.environ, "PGHOST": str(self.folder), "PGUSER": self.user, "PGDATABASE": "postgres",
                    "PGTZ": "UTC", "PGOPTIONS": ""}
        try:
            self.make_tree()
            self.data.mkdir()
            if self.as_user:
                for folder in (self.folder, self.data):
                    shutil.chown(folder, self.user)
            self.run_as_user("initdb", "-D", self.data, "-N", "-A", "trust", "--no-locale", "-E", "UTF8")
            defaults = {"listen_addresses": "", "unix_socket_directories": self.folder, "fsync": "off", "jit": "off",
                        "shared_buffers": "32MB", "log_min_messages": "fatal", "wal_level": "logical",
                        "wal_retrieve_retry_interval": "100ms"}
            with open(self.data / "postgresql.conf", "a") as file:
                file.writelines(f"{name} = '{value}'\n" for name, value in {**defaults, **settings}.items())
            self.start()
        except BaseException:
            self.close()
            raise

    def make_tree(self):
        self.bin.mkdir(parents=True)
        for program in ("postgres", "initdb"):
            shutil.copy(INSTALLED / "bin" / program, self.bin)
        for folder in (INSTALLED / "lib", SHARED, SHARED / "extension"):
            ours = self.folder / folder.relative_to("/")
            ours.mkdir(parents=True)
            for entry in folder.iterdir():
                if entry.name != "extension":
                    (ours / entry.name).symlink_to(entry)
        subprocess.run(["cmake", "--install", BUILD, "--component", "postgres"], check=True, capture_output=True,
                       env={**os.environ, "DESTDIR": str(self.folder)})

    def run_as_user(self, program, *arguments):
        done = subprocess.run([*self.as_user, self.bin / program, *map(str, arguments)], cwd="/", env=self.env,
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr

    def start(self):
        with open(self.folder / "log", "a") as log:
            self.process = subprocess.Popen([*self.as_user, self.bin / "postgres", "-D", self.data], cwd="/",
                                            env=self.env, stdout=log, stderr=log)
        for _ in range(600):
            if self.process.poll() is not None:
                raise AssertionError((self.folder / "log").read_text())
            if subprocess.run(["pg_isready", "-q"], env=self.env).returncode == 0:
                return
            time.sleep(0.05)
        raise AssertionError("the server does not answer")

    def stop(self, how=signal.SIGINT):
        """SIGINT: ends sessions and writes everything. SIGQUIT: a crash."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait(60)
        self.process = None

    def close(self):
        try:
            self.stop(signal.SIGQUIT)
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def psql(self, script, *arguments, database="postgres"):
        return subprocess.run(["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-d", database, *arguments], input=script,
                              env=self.env, capture_output=True, text=True, timeout=120)

    def ask(self, script, **options):
        """The output of statements that succeed."""
        done = self.psql(script, **options)
        assert done.returncode == 0, done.stderr
        return done.stdout.rstrip("\n")
