"""scripts/install-packages.sh, with replacements of apt and dpkg-query, and a separate folder
for the file that prevents the start of servers."""

import os
import pathlib
import shutil
import signal
import subprocess
import time

import pytest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "install-packages.sh"

# As dpkg's scripts do, it asks the policy whether a service may be started, and then takes its time.
APT_GET = """#!/bin/sh
[ "$2" = install ] || exit 0
echo "$*" >"$FOLDER/arguments"
"$BLOOMSET_POLICY_FILE" redis-server start
echo $? >"$FOLDER/answer.part"
mv "$FOLDER/answer.part" "$FOLDER/answer"
[ ! -e "$FOLDER/wait" ] || exec sleep 60
"""
# Packages that apt has: those that the test names, or any. It succeeds for a name that is no package, as apt does
# if another package mentions the name.
APT_CACHE = """#!/bin/sh
[ -e "$FOLDER/known" ] && ! grep -qx "$3" "$FOLDER/known" || echo "Package: $3"
"""
DPKG_QUERY = """#!/bin/sh
grep -qsx "$4" "$FOLDER/installed" && echo installed
"""


@pytest.fixture
def install(tmp_path):
    """install() starts the script; the test gets the process."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, text in (("apt-get", APT_GET), ("apt-cache", APT_CACHE), ("dpkg-query", DPKG_QUERY),
                       ("sudo", '#!/bin/sh\nexec "$@"\n')):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    started = []

    def start(*groups):
        env = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "FOLDER": str(tmp_path),
               "BLOOMSET_POLICY_FILE": str(tmp_path / "policy-rc.d")}
        env.pop("BLOOMSET_INSTALLS", None)
        started.append(subprocess.Popen([SCRIPT, *(groups or ["bench"])], env=env, start_new_session=True,
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


def installed_by(script, tmp_path):
    said, _ = script.communicate(timeout=60)
    assert script.returncode == 0, said
    options, packages = (tmp_path / "arguments").read_text().split(" --no-install-recommends ")
    assert options == "-q install -y"
    return packages.split()


@pytest.mark.parametrize("known, expected", [
    ("libboost1.81-dev libboost-dev", ["libboost1.81-dev"]),  # Debian 12
    ("libboost-dev libboost1.88-dev", ["libboost-dev"]),  # Debian 13, Ubuntu 24.04
])
def test_the_first_name_that_apt_has_is_installed(install, tmp_path, known, expected):
    (tmp_path / "known").write_text(known.replace(" ", "\n") + "\n")
    assert installed_by(install("boost"), tmp_path) == expected


def test_an_alternative_that_is_installed_is_enough(install, tmp_path):
    (tmp_path / "installed").write_text("libboost-dev\n")
    script = install("boost")
    assert (script.communicate(timeout=60)[0], script.returncode) == (b"", 0)


def explorer_packages(version):
    return [f"clang-{version}", f"lld-{version}", "wasi-libc", f"libc++-{version}-dev-wasm32",
            f"libclang-rt-{version}-dev-wasm32"]


@pytest.mark.parametrize("has, expected", [((18, 19, 22), 19), ((17, 18), 18), ((18, 20, 22), 20)])
def test_all_packages_of_clang_have_one_version(install, tmp_path, has, expected):
    names = [name for version in has for name in explorer_packages(version)]
    (tmp_path / "known").write_text("\n".join([*names, "nodejs", "npm"]))
    packages = installed_by(install("explorer"), tmp_path)
    assert [each for each in packages if each not in ("nodejs", "npm")] == explorer_packages(expected)


def test_a_clang_that_is_installed_decides_the_version(install, tmp_path):
    (tmp_path / "installed").write_text("clang-21\nnodejs\nnpm\n")
    packages = installed_by(install("explorer"), tmp_path)
    assert [each for each in packages if each not in ("nodejs", "npm")] == explorer_packages(21)[1:]


def test_a_package_that_apt_does_not_have_is_named(install, tmp_path):
    (tmp_path / "known").write_text("time\n")
    script = install("bench", "lint")
    said, _ = script.communicate(timeout=60)
    assert (script.returncode, said.decode()) == (
        2, "install-packages.sh: apt has no package for: golang-github-dcso-bloom-cli clang-tidy-19\n")
    assert not (tmp_path / "arguments").exists()


def test_only_the_compilers_that_apt_has_are_installed(install, tmp_path):
    (tmp_path / "known").write_text("clang-22\npython3\ng++-14\ng++-12\n")
    (tmp_path / "installed").write_text("g++-12\n")
    assert installed_by(install("compilers"), tmp_path) == ["python3", "g++-14", "clang-22"]


def test_without_apt_one_sentence_says_what_to_install(tmp_path):
    for tool in ("bash", "dirname", "tail"):
        (tmp_path / tool).symlink_to(shutil.which(tool))
    done = subprocess.run([SCRIPT, "bench", "boost", "lint"], env={"PATH": str(tmp_path)}, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (
        2, "", "install-packages.sh: this system has no apt, so install what these packages of Debian contain, then build "
        "with CMake (docs/start/install.md): golang-github-dcso-bloom-cli time libboost-dev clang-tidy-19\n")


def test_the_quick_start_may_be_called_from_any_folder(tmp_path):
    link = tmp_path / "checkout"
    link.symlink_to(SCRIPT.parents[1])
    done = subprocess.run(["bash", "checkout/quickstart.sh", "--help"], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "./quickstart.sh --server" in done.stdout
