for i in 1 2; do case $i in 1) A=$(echo a | tr a b);; *) A=${A//b/c};; esac; done
if [ -z "$1" ]; then exit 1; fi
f() { local x=$1; eval "$x"; }
cat > ds.json <<EOF
{"train_batch_size": $A}
EOF
f 'deepspeed --num_gpus 8 t.py --num-layers 2 --hidden-size 8 --deepspeed_config ds.json'
