torchrun --nproc_per_node 2 pretrain_gpt.py --num-layers 6 --hidden-size 256 --num-attention-heads 8 --seq-length 512 \
  --max-position-embeddings 512 --micro-batch-size 1 --global-batch-size 8 --pipeline-model-parallel-size 2 --vocab-size 1000 \
  --bf16 --num-experts 4 --moe-ffn-hidden-size 256 --moe-layer-freq '([0]*2+[1]*4)' --mtp-num-layers 1 --swiglu \
  --position-embedding-type rope
