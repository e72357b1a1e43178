"""One case: drawn, run by Ingot, judged by its peers."""
import numpy as np

import compare
import engine
import exclusions
import generate
import peers

INTERNAL = 10  # ingot_status: a fault of Ingot itself
MEMORY = 1 << 29  # bytes; a spoiled case may ask for any


def short(content):
    if isinstance(content, np.ndarray):
        text = np.array2string(content, threshold=12, edgeitems=3, separator=",").replace("\n", "")
        return f"{content.dtype}{list(content.shape)}{text[:90]}"
    return repr(content)[:120]


def describe(draft, opset, level):
    inputs = ", ".join(short(entry.content) + ("c" if entry.constant else "") if entry.type else "-" for entry in draft.inputs)
    attributes = ", ".join(f"{name}={value!r:.80}" for name, value in draft.attributes.items())
    return f"opset {opset} level {level} ({attributes}) [{inputs}]"


class Runner:
    def __init__(self, stage):
        self.engine, self.stage = engine.Engine(), stage

    def run(self, seed, domain, name, number):
        """A verdict ("passed", "failed", "skipped"), why, and the case in words."""
        self.stage("draw")
        draft, opset, level = generate.draw(seed, domain, name, number)
        if draft is None:
            return "skipped", "no case drawn", ""
        form = describe(draft, opset, level)
        model, feed, types = draft.build(opset)
        data = model.SerializeToString()
        self.stage("ingot")
        found = error = None
        try:
            found = self.engine.run(data, feed, types, level, memory_limit=MEMORY)
        except engine.Error as refused:
            error = refused
        except UnicodeDecodeError as odd:
            return "failed", f"a message that is not UTF-8: {odd}", form
        if error is not None and (error.status == INTERNAL or not str(error)):
            return "failed", f"status {error.status}: {error}", form
        if not draft.valid:
            return "passed", "", form
        reasons = []
        for peer, answer in self.opinions(draft, model, feed, found):
            try:
                self.stage(peer)
                expected = answer()
            except Exception as failure:  # whatever a peer raises leaves it without an opinion
                reasons.append(f"{peer} fails: {type(failure).__name__}: {str(failure)[:150]}")
                continue
            if expected is None:
                continue
            if error is not None:
                reasons.append(f"{peer} answers")
                continue
            text = compare.outputs_difference(found, expected, draft)
            if text is None:
                return "passed", "", form
            reasons.append(f"{peer}: {text}")
        text = "; ".join(reasons)
        if error is not None:
            text = f"refused: {error}; {text}"
        if all(" fails: " in reason for reason in reasons):
            return "skipped", text, form
        reason = exclusions.reason(draft, opset, found, text)
        return ("skipped", reason, form) if reason else ("failed", text, form)

    def opinions(self, draft, model, feed, found):
        if draft.expected is not None:
            contents = [entry.content for entry in draft.inputs]
            yield "formula", lambda: draft.expected(*contents)
        yield "reference", lambda: peers.reference(model, feed)
        if found is not None:
            yield "wide reference", lambda: peers.wide_reference(model, feed, found, draft.float_outputs)
        yield "ONNX Runtime", lambda: peers.runtime(model, feed)
        if draft.older:
            older = draft.build(draft.older)[0]
            yield "ONNX Runtime", lambda: peers.runtime(older, feed)
