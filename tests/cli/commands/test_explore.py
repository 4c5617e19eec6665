"""`bloomset explore` finds the page and passes it to a browser."""

import os
import pathlib

import pytest

PAGE = pathlib.Path(os.environ.get("BLOOMSET", "build/bloomset")).resolve().parent / "explorer/index.html"


def browser(tmp_path, code=0):
    """A program that keeps what it was asked to open."""
    script = tmp_path / "browser"
    script.write_text(f'#!/bin/sh\nprintf %s "$1" > "{tmp_path}/opened"\nexit {code}\n')
    script.chmod(0o755)
    return str(script)


@pytest.fixture
def page():
    if not PAGE.is_file():
        pytest.skip("the explorer page was not built here")
    return PAGE


def test_the_browser_is_given_the_page(run, tmp_path, page):
    run("explore", env={"BROWSER": browser(tmp_path)}).ok()
    assert pathlib.Path((tmp_path / "opened").read_text()).samefile(page)


def test_print_opens_nothing(run, tmp_path, page):
    done = run("explore", "--print", env={"BROWSER": browser(tmp_path)}).ok()
    assert pathlib.Path(done.out.decode().strip()).samefile(page)
    assert not (tmp_path / "opened").exists()


def test_what_a_desktop_opener_prints_is_not_shown(run, tmp_path, page):
    opener = tmp_path / "xdg-open"
    opener.write_text(f'#!/bin/sh\necho noise; echo more >&2\nprintf %s "$1" > "{tmp_path}/opened"\n')
    opener.chmod(0o755)
    done = run("explore", env={"BROWSER": "", "PATH": f"{tmp_path}:{os.environ['PATH']}"}).ok()
    assert (done.out, done.err) == (b"", b"")
    assert pathlib.Path((tmp_path / "opened").read_text()).samefile(page)


def test_without_a_browser_it_says_where_the_page_is(run, tmp_path, page):
    run("explore", env={"BROWSER": browser(tmp_path, 1), "PATH": str(tmp_path)}).refused(
        "no browser could be started", "index.html")


def test_a_program_without_its_page_says_so(run, tmp_path, bloomset):
    import shutil
    import subprocess
    alone = tmp_path / "bin" / "bloomset"
    alone.parent.mkdir()
    shutil.copy(bloomset, alone)
    done = subprocess.run([alone, "explore"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "not installed" in done.stderr and "bloomset-explorer" in done.stderr and done.stderr.count("\n") == 1
