MODEL="--num-layers 12 --hidden-size 768 --num-attention-heads 12 --seq-length 1024"
torchrun --nproc_per_node 8 --nnodes 1 pretrain_gpt.py $MODEL --max-position-embeddings 1024 \
  --micro-batch-size 2 --global-batch-size 32 --bf16 --tokenizer-type GPT2BPETokenizer \
  --tensor-model-parallel-size 2 --pipeline-model-parallel-size 2 --no-rope-fusion
