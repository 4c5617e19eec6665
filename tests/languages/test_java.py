"""The package for Java: its own tests, and a program that uses the jar."""

import os
import re
import subprocess

from conftest import VECTORS, missing


def maven(folder, *goals):
    done = subprocess.run(["mvn", "--batch-mode", *goals], cwd=folder, capture_output=True, text=True, timeout=600, check=False,
                          env={**os.environ, "BLOOMSET_VECTORS": str(VECTORS)})
    if done.returncode != 0 and re.search("Could not (transfer|resolve|find) |Non-resolvable|could not be resolved", done.stdout):
        missing("Maven cannot fetch its plugins or Chicory: is its repository reachable?", done.stdout[-4000:])
    assert done.returncode == 0, done.stdout[-8000:]
    return done.stdout


def test_its_own_tests_and_a_program_with_the_jar(package, run, tmp_path):
    folder = package("java", "mvn", "javac", "java")
    said = maven(folder, "package", "dependency:copy-dependencies", f"-DoutputDirectory={tmp_path}", "-DincludeScope=runtime")
    tests = re.findall(r"Tests run: (\d+), Failures: 0, Errors: 0, Skipped: 0\n", said)
    assert tests and int(tests[-1]) > 40, said[-4000:]
    (tmp_path / "Words.java").write_text("""
        import bloomset.Filter;
        import bloomset.Request;
        import java.util.List;

        class Words {
            public static void main(String[] arguments) {
                Filter words = Filter.build(List.of("ann", "bob", "cid"), Request.of("ribbon").fpr("0.1%"));
                System.out.println(words.contains("ann") + " " + words.contains("dan") + " " + words.info().get("kind"));
            }
        }""")
    jars = ":".join(map(str, [folder / "target" / "bloomset-0.1.0.jar", *tmp_path.glob("*.jar")]))
    assert run("java", "-cp", jars, "Words.java", cwd=tmp_path) == "true false ribbon\n"
