#!/usr/bin/env bash
# Runs Tilus scripts on the VM, and their machine code for two GPUs on the PTX simulator, and compares:  machine_code_test.sh
# Needs tilus and torch in TILEVM_SITE.
set -euo pipefail
if [ -z "${TILEVM_SITE:-}" ] || [ ! -d "$TILEVM_SITE/tilus" ] || [ ! -d "$TILEVM_SITE/torch" ]; then
  echo "SKIPPED: TILEVM_SITE names no folder with tilus and torch (pip install tilus==0.2.0 torch)"
  exit 0
fi
root=$PWD work=$TEST_TMPDIR
runtime/package/copy.sh "$work/prefix" runtime/shared/libtilevm.so runtime/forms/shared/libtilevm_forms.so tools/tilevm/tilevm
/usr/bin/python3 -m zipfile -e "$(/usr/bin/python3 python/build_wheel.py --prefix="$work/prefix" --out="$work")" "$work/site"

# A script of each kind: what loops carry, shared memory, asynchronous copies, barriers, products with packed weights, small types.
export HOME=$work TILUS_CACHE_DIR=$work/cache TILUS_RECORDS=$work/records PYTHONPATH=$root/tests/tilus:$work/site:$TILEVM_SITE
(cd "$work" && /usr/bin/python3 -m tilevm.tilus --check=full -m pytest -q -p no:cacheprovider -p recorder -o python_files='cases_*.py' \
  -k 'cases_order or cases_language or cases_views or shared_memory or agrees_with_numpy' "$root/python/tests/tilus_cases")
records=("$work"/records/*.json)
[ ${#records[@]} -ge 40 ] || { echo "FAILED: only ${#records[@]} launches were recorded" >&2; exit 1; }
status=0
for sm in 80 90; do
  echo "sm_$sm, ${#records[@]} launches:"
  GPU_SIM_SM=$sm TILEVM_LIBCUDA=$root/tests/gpu_sim/driver/gpu_sim/libgpu_sim.so tests/gpu/gpu_check --ptx --sm=$sm "${records[@]}" || status=$?
done
exit $status
