"""scripts/install-packages.sh, with replacements of apt-get and dpkg-query, and a separate folder
for the file that prevents the start of servers."""

import os
import pathlib
import signal
import subprocess
import time

import pytest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "install-packages.sh"

# As dpkg's scripts do, it asks the policy whether a service may be started, and then takes its time.
APT_GET = """#!/bin/sh
[ "$1" = install ] || exit 0
"$BLOOMSET_POLICY_FILE" redis-server start
echo $? >"$FOLDER/answer.part"
mv "$FOLDER/answer.part" "$FOLDER/answer"
[ ! -e "$FOLDER/wait" ] || exec sleep 60
"""


@pytest.fixture
def install(tmp_path):
    """install() starts the script; the test gets the process."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, text in (("apt-get", APT_GET), ("dpkg-query", "#!/bin/sh\nexit 1\n"),
                       ("sudo", '#!/bin/sh\nexec "$@"\n')):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    started = []

    def start():
        env = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "FOLDER": str(tmp_path),
               "BLOOMSET_POLICY_FILE": str(tmp_path / "policy-rc.d")}
        env.pop("BLOOMSET_INSTALLS", None)
        started.append(subprocess.Popen([SCRIPT, "bench"], env=env, start_new_session=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
        return started[-1]

    yield start
    for process in started:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.communicate()


def answer(tmp_path):
    """What the policy answers to who installs something else."""
    env = {key: value for key, value in os.environ.items() if key != "BLOOMSET_INSTALLS"}
    return subprocess.run([tmp_path / "policy-rc.d", "nginx", "start"], env=env).returncode


def wait_for(path):
    for _ in range(3000):
        if path.exists():
            return
        time.sleep(0.01)
    raise AssertionError(f"{path} did not appear")


def test_servers_are_not_started_and_nothing_is_left(install, tmp_path):
    script = install()
    said, _ = script.communicate(timeout=60)
    assert script.returncode == 0, said
    assert (tmp_path / "answer").read_text() == "101\n"
    assert not (tmp_path / "policy-rc.d").exists()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM], ids=lambda how: how.name)
def test_killed_in_the_middle_it_forbids_nobody_to_start_services(install, tmp_path, how):
    (tmp_path / "wait").touch()
    script = install()
    wait_for(tmp_path / "answer")
    assert (tmp_path / "answer").read_text() == "101\n"
    os.killpg(script.pid, how)
    script.wait(timeout=60)
    if how == signal.SIGKILL:
        assert answer(tmp_path) == 0
    else:
        assert not (tmp_path / "policy-rc.d").exists()
    # The next run takes away what is left, and is not hindered by it.
    (tmp_path / "wait").unlink()
    (tmp_path / "answer").unlink()
    again = install()
    said, _ = again.communicate(timeout=60)
    assert again.returncode == 0, said
    assert (tmp_path / "answer").read_text() == "101\n"
    assert not (tmp_path / "policy-rc.d").exists()


def test_somebody_elses_policy_is_left_alone(install, tmp_path):
    policy = tmp_path / "policy-rc.d"
    policy.write_text("#!/bin/sh\nexit 104\n")
    policy.chmod(0o755)
    assert install().wait(timeout=60) == 0
    assert (tmp_path / "answer").read_text() == "104\n"
    assert policy.read_text() == "#!/bin/sh\nexit 104\n"


def test_the_quick_start_may_be_called_from_any_folder(tmp_path):
    link = tmp_path / "checkout"
    link.symlink_to(SCRIPT.parents[1])
    done = subprocess.run(["bash", "checkout/quickstart.sh", "--help"], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "./quickstart.sh --server" in done.stdout
