def scaled_dot_product_attention(q, k, v, is_causal, enable_gqa):
    import torch
    assert enable_gqa == (q.shape[1] != k.shape[1])
    return torch.work(q)


def one_pass(x, *_, **__):
    import torch
    return torch.work(x)


rms_norm = layer_norm = gelu = softmax = one_pass
