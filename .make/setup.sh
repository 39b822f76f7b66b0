#!/bin/sh
# Finds a Python that PageWalk runs on and hands over to setup.py. Where there is none, one line says what to do.
# Usage: setup.sh run|test|bench. PYTHON names the Python to use.
set -eu

# Writes the version and the path of a Python (outside any virtual environment); fails where it does not run.
describe() {
    "$1" -c 'import sys; sys.stdout.write("%d.%d %s" % (sys.version_info[0], sys.version_info[1], getattr(sys, "_base_executable", None) or sys.executable))' 2>/dev/null
}

# Fits $1 ("3.12 /usr/bin/python3.12") between the minor versions $2 and $3?
fits() {
    minor=${1%% *}
    case $minor in 3.*) minor=${minor#3.} ;; *) return 1 ;; esac
    [ "$minor" -ge "$2" ] && [ "$minor" -le "$3" ]
}

hand_over() {
    exec "${1#* }" "$(dirname "$0")/setup.py" "$target"
}

target=$1
if [ -n "${PYTHON:-}" ]; then
    found=$(describe "$PYTHON") || {
        echo "PYTHON is '$PYTHON', which does not run. Name a Python 3.11 or newer, for example: make $target PYTHON=python3.12" >&2
        exit 1
    }
    fits "$found" 11 99 && hand_over "$found"
    echo "PYTHON is '$PYTHON', which is Python ${found%% *}. PageWalk needs Python 3.11 or newer: make $target PYTHON=python3.12" >&2
    exit 1
fi

seen=
for candidate in python3 python3.14 python3.13 python3.12 python3.11 python; do
    found=$(describe "$candidate") || continue
    fits "$found" 11 14 && hand_over "$found"
    fits "$found" 15 99 && newer=${newer:-$found}
    seen=${seen:-"Python ${found%% *}"}
done
[ -n "${newer:-}" ] && hand_over "$newer"  # newer than anything tried so far: let pip say whether torch is there for it
echo "PageWalk needs Python 3.11 or newer, and found ${seen:-none}. Install one (on Debian or Ubuntu: apt install python3 python3-venv), or name it: make $target PYTHON=/path/to/python3.12" >&2
exit 1
