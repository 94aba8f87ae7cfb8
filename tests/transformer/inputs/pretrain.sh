#!/bin/bash
GPUS=8
MODEL="--num-layers 24 --hidden-size 2048 --num-attention-heads 16 --seq-length 2048"
torchrun --nproc_per_node $GPUS --nnodes 1 pretrain_gpt.py $MODEL \
  --max-position-embeddings 2048 --micro-batch-size 4 --global-batch-size 64 --bf16 \
  --tensor-model-parallel-size 2 --pipeline-model-parallel-size 2 --sequence-parallel \
  --tokenizer-type GPT2BPETokenizer --lr 1e-4 --odd-thing 1
