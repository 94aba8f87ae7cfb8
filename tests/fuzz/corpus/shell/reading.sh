while read a b; do srun -N 2 bash -c "python t.py --num-layers \$a"; done <<< "1 2"
