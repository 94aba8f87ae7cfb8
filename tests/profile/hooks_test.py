#!/usr/bin/env python3
"""debubble_hooks on real PyTorch (the CPU is enough): sizes against hand-computed ones, and that scripts run as they
would without it. Command line: see hooks_harness.py.
"""

from hooks_harness import BLOCK, MODEL, STATISTICS, UNIT, HooksTest, main


class Hooks(HooksTest):
    # ---- sizes

    def test_sizes_of_a_transformer_are_those_computed_by_hand(self):
        done, sizes = self.hooked("train(GPT())")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        layers = self.layers(sizes)
        self.assertEqual(list(layers), ["embedding", "blocks.0", "blocks.1", "blocks.2", "head", "loss"])
        block = layers["blocks.1"]
        self.assertEqual(block["activation_bytes"], BLOCK)
        self.assertEqual(block["weight_input_bytes"], UNIT * (1 + 1 + 1 + 1 + 1 + 4))  # two norms, four products
        self.assertEqual(block["weight_gradient_bytes"], UNIT * (3 + 1 + 4 + 1))
        self.assertEqual(block["output_bytes"], UNIT)
        self.assertEqual(block["parameter_bytes"], 4 * (12 * 32 * 32 + 9 * 32 + 4 * 32))
        self.assertEqual(layers["embedding"]["activation_bytes"], 2 * 16 * 8)  # the tokens
        self.assertEqual(layers["embedding"]["output_bytes"], UNIT)
        self.assertEqual(layers["embedding"]["parameter_bytes"], 4 * 100 * 32)
        self.assertEqual(layers["head"]["activation_bytes"], 2 * UNIT + STATISTICS)
        self.assertEqual(layers["head"]["output_bytes"], 2 * 16 * 100 * 4)
        self.assertGreaterEqual(layers["loss"]["activation_bytes"], 2 * 16 * 100 * 4)
        self.assertEqual(sizes["outside_bytes"], 0)
        self.assertEqual((sizes["model"], sizes["dtype"], sizes["microbatch_size"], sizes["sequence_length"]),
                         ("GPT", "fp32", 2, 16))
        self.assertEqual(sizes["steps"], 3)
        self.assertTrue(sizes["complete"])

    def test_a_storage_that_several_ops_save_counts_once_and_views_are_no_tensors_of_their_own(self):
        done, sizes = self.hooked("""
            class Twice(nn.Module):
                def __init__(self): super().__init__(); self.a = nn.Linear(8, 8)
                def forward(self, x):
                    y = self.a(x); return y.view(-1) * y.view(-1) + y.reshape(-1) ** 2
            m = Twice(); m(torch.randn(4, 8, requires_grad=True)).sum().backward()""")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sum(layer["activation_bytes"] for layer in sizes["layers"]) + sizes["outside_bytes"],
                         4 * 8 * 4 + 4 * 8 * 4)

    def test_checkpointed_layers_keep_their_input_and_recompute_in_workspace(self):
        for reentrant in ("True", "False"):
            done, sizes = self.hooked(f"""
                from torch.utils.checkpoint import checkpoint
                train(GPT(lambda block, x: checkpoint(block, x, use_reentrant={reentrant})))""")
            self.assertEqual(done.returncode, 0, done.stderr)
            block = self.layers(sizes)["blocks.1"]
            self.assertEqual(block["activation_bytes"], UNIT)
            self.assertTrue(block["checkpointed"])
            self.assertIsNone(block["weight_grad_held_bytes"])
            self.assertEqual(block["workspace_bytes"], BLOCK if reentrant == "True" else 0)

    def test_inputs_that_pytorch_2_saves_in_front_of_a_checkpointed_layer_are_the_layers(self):
        done, sizes = self.hooked("""
            class SaveInputs(torch.autograd.Function):  # as in torch.utils.checkpoint since 2.1
                @staticmethod
                def forward(context, none, x):
                    context.save_for_backward(none, x)
                    return torch.empty((0,))
                @staticmethod
                def backward(context, gradient): return None, None
            class checkpoint_hook(torch.autograd.graph.saved_tensors_hooks): pass
            def checkpoint(block, x):
                saved = SaveInputs.apply(torch.empty((0,), requires_grad=True), x)
                with checkpoint_hook(lambda tensor: tensor, lambda tensor: tensor): return block(x)
            train(GPT(checkpoint))""")
        self.assertEqual(done.returncode, 0, done.stderr)
        layers = self.layers(sizes)
        self.assertEqual([layers[f"blocks.{block}"]["activation_bytes"] for block in range(3)], [UNIT] * 3)
        self.assertEqual(layers["embedding"]["activation_bytes"], 2 * 16 * 8)  # the tokens
        self.assertEqual(sizes["outside_bytes"], 0)

    def test_offloaded_layers_keep_nothing_on_the_device_and_still_offload(self):
        done, sizes = self.hooked("""
            from torch.autograd.graph import save_on_cpu
            def run(block, x):
                with save_on_cpu(): return block(x)
            train(GPT(run))""")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.layers(sizes)["blocks.1"]["activation_bytes"], 0)
        self.assertIn("save_on_cpu", done.stderr)

    def test_evaluation_is_not_counted_and_has_no_ranges(self):
        done, sizes = self.hooked("""
            m = GPT()
            with torch.no_grad(): m(torch.zeros(7, 5, dtype=torch.long))
            train(m); m.eval(); m(torch.zeros(7, 5, dtype=torch.long))""")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((sizes["microbatch_size"], sizes["sequence_length"]), (2, 16))

    def test_autocast_is_the_dtype(self):
        done, sizes = self.hooked("""
            m = GPT()
            with torch.autocast("cpu", dtype=torch.bfloat16): m(torch.zeros(2, 16, dtype=torch.long)).sum().backward()""")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sizes["dtype"], "bf16")

    def test_layers_by_name(self):
        done, sizes = self.hooked("train(GPT())", "--layers", r"^blocks\.\d+|^out$")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(list(self.layers(sizes)), ["blocks.0", "blocks.1", "blocks.2", "out", "loss"])
        done, _ = self.hooked("train(GPT())", "--layers", "nonesuch")
        self.assertIn("--layers matches no module of GPT; its modules are named like wte", done.stderr)
        done, _ = self.hooked("train(GPT())", "--layers", "(")
        self.assertIn("not a regular expression", done.stderr)
        self.assertEqual(done.returncode, 1)

    def test_parts_called_without_the_model_are_found(self):
        done, sizes = self.hooked("""
            m = GPT(); x = m.wte(torch.zeros(2, 16, dtype=torch.long))
            for b in m.blocks: x = b(x)
            m.out(m.norm(x)).sum().backward()""")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(set(self.layers(sizes)), {"wte", "blocks.0", "blocks.1", "blocks.2", "norm", "out"})

    # ---- which modules are layers

    # torchtitan's: the blocks in a ModuleDict, what else there is beside it; other stages have only some of them.
    TITAN = """
        class Titan(nn.Module):
            def __init__(self, blocks=range(L), **parts):
                super().__init__()
                self.tok_embeddings = nn.Embedding(V, H)
                self.layers = nn.ModuleDict()
                for number in blocks: self.layers[str(number)] = Block()
                self.norm, self.output = nn.LayerNorm(H), nn.Linear(H, V, bias=False)
            def forward(self, tokens):
                x = self.tok_embeddings(tokens)
                for layer in self.layers.values(): x = layer(x)
                return self.output(self.norm(x))
        """

    def test_blocks_in_a_module_dict_are_layers_by_their_keys(self):
        done, sizes = self.hooked(self.TITAN + """
        train(Titan())""")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        layers = self.layers(sizes)
        self.assertEqual(list(layers), ["embedding", "layers.0", "layers.1", "layers.2", "head", "loss"])
        self.assertEqual(layers["layers.1"]["activation_bytes"], BLOCK)
        self.assertEqual(layers["embedding"]["parameter_bytes"], 4 * 100 * 32)
        self.assertEqual(layers["head"]["output_bytes"], 2 * 16 * 100 * 4)
        pushed = self.ranges(self.TITAN + """
        train(Titan(), steps=1)""")
        self.assertEqual([p for p in pushed if p != "pop"],
                         ["debubble.step:0", *("debubble.layer:" + name for name in layers)])

    def test_a_stage_of_few_blocks_keeps_the_keys_that_the_model_gave_them(self):
        for blocks, names in (((5, 6), ["layers.5", "layers.6"]), ((7,), ["layers.7"])):
            done, sizes = self.hooked(self.TITAN + f"""
        train(Titan({blocks}))""")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(list(self.layers(sizes)), ["embedding", *names, "head", "loss"])

    def test_lists_within_a_module_dict_and_plain_modules_beside_blocks(self):
        done, sizes = self.hooked("""
            class Two(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.parts = nn.ModuleDict({"encoder": nn.ModuleList(Block() for _ in range(2)),
                                                "decoder": nn.ModuleDict({"a": Block(), "b": Block()})})
                    self.wte, self.out = nn.Embedding(V, H), nn.Linear(H, V)
                def forward(self, tokens):
                    x = self.wte(tokens)
                    for block in self.parts["encoder"]: x = block(x)
                    for block in self.parts["decoder"].values(): x = block(x)
                    return self.out(x)
            train(Two())""")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(list(self.layers(sizes)), ["embedding", "parts.encoder.0", "parts.encoder.1",
                                                    "parts.decoder.a", "parts.decoder.b", "head", "loss"])
        done, sizes = self.hooked("""
            class Mixed(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.t = nn.ModuleDict({"wte": nn.Embedding(V, H), "drop": nn.Dropout(0.0),
                                            "h": nn.ModuleList(Block() for _ in range(2)), "ln": nn.LayerNorm(H)})
                    self.out = nn.Linear(H, V)
                def forward(self, tokens):
                    x = self.t.drop(self.t.wte(tokens))
                    for block in self.t.h: x = block(x)
                    return self.out(self.t.ln(x))
            train(Mixed())""")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(list(self.layers(sizes)), ["embedding", "t.h.0", "t.h.1", "head", "loss"])

    def test_layers_that_never_run_are_named(self):
        done, sizes = self.hooked("""
            class Skips(GPT):
                def forward(self, tokens):
                    x = self.wte(tokens)
                    for block in list(self.blocks)[:1]: x = block(x)
                    return self.out(self.norm(x))
            train(Skips())""")
        note = ("2 of the 3 layers of Skips never ran forward with gradients: blocks.1, blocks.2; their work, if there "
                "is any, lies outside of layers (--layers REGEX names others)")
        self.assertEqual((done.returncode, done.stderr), (0, f"debubble_hooks: {note}\n"))
        self.assertEqual(sizes["notes"], [note])

    # Megatron-LM: a list of each pipeline rank starts at 0, and each block knows its number in the model, from 1.
    MEGATRON = """
        class Numbered(Block):
            def __init__(self, number): super().__init__(); self.layer_number = number
        class Chunk(GPT):
            def __init__(self, *numbers):
                super().__init__()
                self.blocks = nn.ModuleList(Numbered(number) for number in numbers)
        """

    def test_blocks_that_know_their_number_in_the_model_are_named_by_it(self):
        done, sizes = self.hooked(self.MEGATRON + """
        train(Chunk(5, 6))""")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(list(self.layers(sizes)), ["embedding", "blocks.4", "blocks.5", "head", "loss"])
        done, sizes = self.hooked(self.MEGATRON + """
        train(Chunk(1, 1))""")  # no numbers of the model: the list's own
        self.assertEqual(list(self.layers(sizes)), ["embedding", "blocks.0", "blocks.1", "head", "loss"])

    def test_one_numbered_block_is_a_layer_whatever_lists_it_holds(self):
        done, sizes = self.hooked(self.MEGATRON + """
        class Expert(nn.Module):
            def __init__(self): super().__init__(); self.fc = nn.Linear(H, H)
            def forward(self, x): return self.fc(x)
        chunk = Chunk(3)
        chunk.blocks[0].experts = nn.ModuleList(Expert() for _ in range(4))
        train(chunk)""")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(list(self.layers(sizes)), ["embedding", "blocks.2", "head", "loss"])

    def test_two_chunks_of_one_rank_share_no_layer(self):
        done, sizes = self.hooked(self.MEGATRON + """
        train(Chunk(1, 2), steps=1); train(Chunk(5, 6), steps=1)""")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(list(self.layers(sizes)), ["embedding", "blocks.0", "blocks.1", "head", "loss",
                                                    "Chunk.embedding", "blocks.4", "blocks.5", "Chunk.head"])

    def test_one_rank_alone_is_watched_where_one_is_wanted(self):
        for rank, written in (("3", True), ("2", False)):
            done, sizes = self.hooked("train(GPT()); print('fine')", DEBUBBLE_RANK="3", RANK=rank)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "fine\n", ""))
            self.assertEqual(sizes is not None, written)
            (self.folder / "sizes.json").unlink(missing_ok=True)

    # ---- the script's life

    def test_the_script_computes_the_same_and_sees_its_own_world(self):
        text = "import os; print(train(GPT()), __file__, sys.argv, sys.path[0], __name__)"
        plain = self.run_python(self.script(MODEL + text), "--steps", "4", "-m", "x")
        done = self.run_python("-m", "debubble_hooks", "train.py", "--steps", "4", "-m", "x")
        self.assertEqual(done.stdout, plain.stdout)
        self.assertEqual(done.stderr, "")

    def test_a_module_is_run_with_its_relative_imports(self):
        (self.folder / "pack").mkdir()
        self.script("value = 5", "pack/part.py")
        self.script("", "pack/__init__.py")
        self.script("from .part import value; import sys; print(value, sys.argv[1:])", "pack/main.py")
        done = self.run_python("-m", "debubble_hooks", "-m", "pack.main", "--flag")
        self.assertEqual(done.stdout, "5 ['--flag']\n", done.stderr)

    def test_sizes_are_written_however_the_script_ends(self):
        for ending, status in (("sys.exit(3)", 3), ("raise ValueError('boom')", 1), ("sys.exit(0)", 0)):
            done, sizes = self.hooked(f"train(GPT()); {ending}")
            self.assertEqual(done.returncode, status)
            self.assertEqual(sizes["complete"], status == 0)
            self.assertEqual(len(sizes["layers"]), 6)
            (self.folder / "sizes.json").unlink()
        _, sizes = self.hooked("train(GPT()); import os; os._exit(0)")
        self.assertEqual((sizes["complete"], len(sizes["layers"])), (False, 6))

    def test_tracing_scripting_copying_workers_and_profilers_go_on(self):
        done, sizes = self.hooked("""
            import copy, pickle
            from torch.utils.data import DataLoader, TensorDataset
            @torch.jit.script
            def loss(a, b): return torch.nn.functional.cross_entropy(a, b)
            m = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
            torch.jit.trace(m, torch.randn(2, 8)); torch.jit.script(m)(torch.randn(2, 8))
            copy.deepcopy(m); pickle.dumps(m)
            o = torch.optim.SGD(m.parameters(), lr=.1)
            for x, y in DataLoader(TensorDataset(torch.randn(8, 8), torch.zeros(8).long()), batch_size=4, num_workers=2):
                nn.CrossEntropyLoss()(m(x), y).backward(); o.step(); loss(m(x), y)
            with torch.profiler.profile(): m(torch.randn(2, 8))
            print("fine")""")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "fine\n", ""))
        self.assertEqual(list(self.layers(sizes)), ["0", "1", "2", "loss"])

    def test_what_breaks_in_the_hooks_does_not_break_the_script(self):
        done, _ = self.hooked("""
            class Odd(nn.Module):
                def __init__(self): super().__init__(); self.a = nn.Linear(2, 2)
                def named_children(self): raise RuntimeError("not today")
                def forward(self, x): return self.a(x)
            print(Odd()(torch.zeros(1, 2)).shape)""")
        self.assertEqual((done.returncode, done.stdout), (0, "torch.Size([1, 2])\n"))
        self.assertIn("stopped watching: RuntimeError: not today", done.stderr)

    BREAKS = """
        import debubble_hooks.accounting as accounting
        counted = []
        accounting.Pass._count = lambda self, tensor: counted.append(tensor)
        def odd(*arguments): raise RuntimeError("odd tensor")
        accounting.Pass.{broken} = odd
        net = nn.Sequential(*[nn.Sequential(nn.Linear(8, 8), nn.ReLU()) for _ in range(3)])
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for step in range(3):
            net(torch.randn(2, 8)).sum().backward(); optimizer.step()
            if step == 0: first = len(counted)
        print("further", len(counted) - first)"""

    def test_what_was_open_when_the_hooks_broke_is_closed(self):
        for broken, pushed in (("enter_layer", ["debubble.step:0", "debubble.layer:0", "pop", "pop"]),
                               ("leave_layer", ["debubble.step:0", "debubble.layer:0", "pop", "pop"]),
                               ("__init__", ["debubble.step:0", "pop"])):
            with self.subTest(broken=broken):
                self.assertEqual(self.ranges(self.BREAKS.format(broken=broken)), pushed)
                done, _ = self.hooked(self.BREAKS.format(broken=broken))
                self.assertEqual(done.stdout, "further 0\n")
                self.assertIn("stopped watching: RuntimeError: odd tensor", done.stderr)

    def test_layers_that_learn_their_shape_from_the_first_input(self):
        done, sizes = self.hooked("""
            model = nn.Sequential(nn.LazyLinear(16), nn.ReLU(), nn.LazyLinear(4))
            for _ in range(3): model(torch.randn(2, 8)).sum().backward()""")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("debubble_hooks:", done.stderr)
        self.assertEqual(self.layers(sizes)["0"]["parameter_bytes"], (8 * 16 + 16) * 4)

    def test_wrong_use_is_told(self):
        self.assertIn("which script?", self.run_python("-m", "debubble_hooks").stderr)
        self.assertIn("there is no file gone.py", self.run_python("-m", "debubble_hooks", "gone.py").stderr)
        self.assertEqual(self.run_python("-m", "debubble_hooks", "--layer", "gone.py").returncode, 2)

if __name__ == "__main__":
    main(__name__)
