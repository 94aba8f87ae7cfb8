A=(--num-layers 2 "--hidden-size" $H); A+=(--bf16)
[[ ${X:-0} == 1 ]] && A+=(--fp16) || true
torchrun --nproc_per_node ${N:-8} t.py "${A[@]}" ${B%%.*} $((2*3))
