"""One process of `debubble live --backend torch`: runs one device's row of a pipeline schedule with PyTorch.

    python -m debubble_torch FOLDER RANK

FOLDER holds plan.txt, which debubble wrote (plan.py), and takes what this process has to say: status.bin while it runs
(status.py), rankN.txt at the end (records.py), or rankN.error. Needs PyTorch 1.13 or later.
"""
