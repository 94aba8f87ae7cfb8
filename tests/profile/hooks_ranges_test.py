#!/usr/bin/env python3
"""The ranges that debubble_hooks opens while a script runs on real PyTorch. Command line: see hooks_harness.py."""

from hooks_harness import BLOCK, UNIT, HooksTest, main


class Ranges(HooksTest):
    def test_ranges_of_a_step_in_their_order(self):
        pushed = self.ranges("train(GPT(), steps=2)")
        step = ["debubble.layer:embedding", "pop", "debubble.layer:blocks.0", "pop", "debubble.layer:blocks.1", "pop",
                "debubble.layer:blocks.2", "pop", "debubble.layer:head", "pop", "debubble.layer:loss", "pop", "pop"]
        self.assertEqual(pushed, ["debubble.step:0", *step, "debubble.step:1", *step])

    def test_recomputed_layers_are_phase_r(self):
        pushed = self.ranges("""
            from torch.utils.checkpoint import checkpoint
            train(GPT(lambda block, x: checkpoint(block, x, use_reentrant=True)), steps=1)""")
        backward = pushed[pushed.index("debubble.layer:loss") + 2:]
        self.assertEqual(backward, [*sum((["debubble.layer:blocks." + k, "debubble.phase:R", "pop", "pop"]
                                          for k in "210"), []), "pop"])

    # As in Megatron-LM's megatron/core/pipeline_parallel/schedules.py: straight to the engine, past torch.autograd.
    CUSTOM_BACKWARD = """
        from torch.autograd.variable import Variable
        from torch.utils.checkpoint import checkpoint
        def custom_backward(output, grad_output):
            if grad_output is None:
                grad_output = torch.ones_like(output, memory_format=torch.preserve_format)
            Variable._execution_engine.run_backward(tensors=(output,), grad_tensors=(grad_output,), keep_graph=False,
                                                    create_graph=False, inputs=tuple(), allow_unreachable=True,
                                                    accumulate_grad=True)
        torch.manual_seed(0)
        model = GPT(lambda block, x: checkpoint(block, x, use_reentrant=True))
        tokens = torch.randint(0, V, (B, T))
        loss = F.cross_entropy(model(tokens).view(-1, V), tokens.view(-1))
        {backward}
        print(sum(p.grad.abs().sum().item() for p in model.parameters()))
        """

    def test_a_backward_is_one_however_it_was_entered(self):
        ways = ("loss.backward()", "torch.autograd.backward(loss)", "custom_backward(loss, None)",
                "Variable._execution_engine.run_backward((loss,), (torch.ones_like(loss),), False, False, (), "
                "allow_unreachable=True, accumulate_grad=True)")
        outputs = set()
        for backward in ways:
            with self.subTest(backward=backward):
                text = self.CUSTOM_BACKWARD.replace("{backward}", backward)
                pushed = self.ranges(text)
                self.assertEqual(pushed[pushed.index("debubble.layer:loss") + 2:],
                                 [*sum((["debubble.layer:blocks." + k, "debubble.phase:R", "pop", "pop"]
                                        for k in "210"), []), "pop"])
                done, sizes = self.hooked(text)
                outputs.add(done.stdout)
                block = self.layers(sizes)["blocks.1"]
                self.assertEqual((block["activation_bytes"], block["workspace_bytes"]), (UNIT, BLOCK))
        self.assertEqual(len(outputs), 1)

    def test_an_engine_that_nothing_can_be_derived_from_is_watched_too(self):
        done = self.run_python("-c", """if 1:
            import torch
            from debubble_hooks import patches
            engine = torch.autograd.Variable._execution_engine
            def final(): pass  # functions have attributes, and no type can be derived from theirs
            final.run_backward, final.is_checkpoint_valid = engine.run_backward, engine.is_checkpoint_valid
            torch.autograd.Variable._execution_engine = final
            patches.wrap_backward(lambda: print("in"), lambda: print("out"))
            x = torch.ones(2, requires_grad=True)
            (x * x).sum().backward()
            print(x.grad.tolist(), torch.autograd._is_checkpoint_valid())""")
        self.assertEqual((done.stdout, done.stderr), ("in\nout\n[2.0, 2.0] True\n", ""))

    def test_gradients_alone_are_a_backward_too(self):
        pushed = self.ranges("""
            from torch.utils.checkpoint import checkpoint
            model = GPT(lambda block, x: checkpoint(block, x, use_reentrant=False))
            loss = model(torch.zeros(2, 16, dtype=torch.long)).sum()
            torch.autograd.grad(loss, model.wte.weight)""")
        self.assertEqual(pushed.count("debubble.phase:R"), 3)

    def test_a_backward_that_no_python_entered_is_one_where_pytorch_tells(self):
        """Later PyTorch numbers the backward that a thread is in; this one stands in for such a version."""
        pushed = self.ranges("""
            model, x = GPT(), torch.zeros(2, 16, 32)
            running = -1
            torch._C._current_graph_task_id = lambda: running
            model(torch.zeros(2, 16, dtype=torch.long))
            running = 4
            model.blocks[1](x)""")
        self.assertEqual(pushed[-5:], ["debubble.layer:blocks.1", "debubble.phase:R", "pop", "pop", "pop"])

    def test_evaluation_pushes_nothing_and_an_exception_closes_what_was_open(self):
        pushed = self.ranges("""
            m = GPT()
            with torch.no_grad(): m(torch.zeros(1, 2, dtype=torch.long))
            m.blocks[1].forward = lambda x: 1 / 0
            try: m(torch.zeros(1, 2, dtype=torch.long))
            except ZeroDivisionError: pass""")
        self.assertEqual(pushed.count("pop"), len(pushed) - pushed.count("pop"))
        self.assertEqual([p for p in pushed if p != "pop"],
                         ["debubble.step:0", "debubble.layer:embedding", "debubble.layer:blocks.0",
                          "debubble.layer:blocks.1"])


if __name__ == "__main__":
    main(__name__)
